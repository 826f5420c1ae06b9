package dev.holdfast.proof.simulation;

import dev.holdfast.core.path.Input;
import dev.holdfast.core.port.Load;

/** A read from the store, as the loop asked for it. */
record Read(SimulatedStore store, Load load) {

  Input run() {
    return switch (load) {
      case Load.Events events -> new Input.EventsLoaded(events, store.events(events.ids()));
      case Load.Backlog backlog ->
          new Input.BacklogLoaded(
              backlog,
              store.backlog(
                  backlog.endpoint(),
                  backlog.triedBefore(),
                  backlog.after(),
                  backlog.now(),
                  backlog.limit()));
      case Load.Due due ->
          new Input.Loaded(load, store.due(due.after(), due.through(), due.limit()));
      case Load.Pending pending ->
          new Input.Loaded(load, store.pending(pending.endpoint(), pending.limit()));
      case Load.Probe probe ->
          new Input.Loaded(load, store.probe(probe.endpoint(), probe.now()).stream().toList());
      case Load.OfSubscription of ->
          new Input.Loaded(
              load, store.ofSubscription(of.endpoint(), of.subscription(), of.which(), of.limit()));
      case Load.Originals originals ->
          new Input.OriginalsLoaded(
              originals, store.originals(originals.replay(), originals.limit()));
      case Load.Past past ->
          new Input.OriginalsLoaded(past, store.past(past.replay(), past.interest(), past.limit()));
      case Load.Unfinished unfinished ->
          new Input.Loaded(load, store.unfinished(unfinished.message()).stream().toList());
      case Load.Arrivals _ -> throw new IllegalStateException("nobody shares this store");
    };
  }
}
