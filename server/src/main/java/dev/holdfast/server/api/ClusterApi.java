package dev.holdfast.server.api;

import dev.holdfast.engine.cluster.ClusterState;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** Shows the nodes that share a database, and who decides for what. */
final class ClusterApi {
  private final Engine engine;

  ClusterApi(Engine engine) {
    this.engine = engine;
  }

  List<Route> routes() {
    return List.of(Route.get("/v1/cluster", Access.LOOK_AT_SERVER, Set.of(), this::show));
  }

  private void show(Exchange exchange, byte[] body) {
    exchange.then(
        engine.cluster(), state -> exchange.answer(200, Json.write(out -> write(out, state))));
  }

  private static void write(JsonGenerator out, ClusterState state) {
    out.writeStartObject();
    out.writeNumberProperty("self", state.self());
    out.writeArrayPropertyStart("nodes");
    state.nodes().forEach(node -> write(out, node, state.known()));
    out.writeEndArray();
    out.writeArrayPropertyStart("shards");
    for (ClusterState.Shard shard : state.shards()) {
      out.writeStartObject();
      out.writeNumberProperty("shard", shard.shard());
      number(out, "node", shard.node());
      out.writeNumberProperty("epoch", shard.epoch());
      out.writeEndObject();
    }
    out.writeEndArray();
    out.writeObjectPropertyStart("lag");
    out.writeNumberProperty("handovers", state.handovers());
    millis(out, "oldestHandoverMillis", state.oldestHandover());
    out.writeNumberProperty("calls", state.calls());
    out.writeEndObject();
    out.writeEndObject();
  }

  private static void write(JsonGenerator out, ClusterState.Node node, long known) {
    out.writeStartObject();
    out.writeNumberProperty("id", node.id());
    out.writeStringProperty("name", Text.whole(node.name()));
    out.writeStringProperty("version", node.version());
    Json.time(out, "since", node.since());
    millis(out, "leaseLeftMillis", node.leaseLeft());
    out.writeNumberProperty("shards", node.shards());
    ClusterState.Report report = node.report();
    if (report == null) {
      out.writeNullProperty("report");
    } else {
      out.writeObjectPropertyStart("report");
      Json.time(out, "at", report.at());
      out.writeNumberProperty("inFlight", report.inFlight());
      out.writeNumberProperty("pending", report.pending());
      out.writeNumberProperty("waiting", report.waiting());
      out.writeNumberProperty("parked", report.parked());
      out.writeNumberProperty("eventsAccepted", report.eventsAccepted());
      out.writeNumberProperty("messagesAccepted", report.messagesAccepted());
      out.writeNumberProperty("delivered", report.delivered());
      out.writeNumberProperty("versionsBehind", Math.max(0, known - report.known()));
      out.writeNumberProperty("clockOffsetMillis", report.clockOffsetMillis());
      out.writeEndObject();
    }
    out.writeEndObject();
  }

  private static void millis(JsonGenerator out, String name, @Nullable Duration value) {
    number(out, name, value == null ? null : value.toMillis());
  }

  private static void number(JsonGenerator out, String name, @Nullable Long value) {
    if (value == null) {
      out.writeNullProperty(name);
    } else {
      out.writeNumberProperty(name, value);
    }
  }
}
