package dev.holdfast.proof.simulation;

import java.util.List;

/**
 * A bug that is put into the engine to see whether the simulation finds it.
 *
 * @param file the source file, within the engine's package
 * @param what what goes wrong
 * @param original the text that is replaced; it occurs once in the file
 * @param broken what it is replaced by
 * @param real whether the engine once had this bug, until the simulation found it
 */
record Mutant(String name, String file, String what, String original, String broken, boolean real) {

  private static Mutant made(
      String name, String file, String what, String original, String broken) {
    return new Mutant(name, file, what, original, broken, false);
  }

  private static Mutant real(
      String name, String file, String what, String original, String broken) {
    return new Mutant(name, file, what, original, broken, true);
  }

  static final List<Mutant> ALL =
      List.of(
          made(
              "deadline-ignored",
              "rules/RetrySchedule.java",
              "a message that failed after its deadline is tried again",
              "slot >= retries || !startedAt.isBefore(deadline)",
              "slot >= retries"),
          made(
              "late-slot-not-put-off",
              "rules/RetrySchedule.java",
              "a retry that ran late is followed too soon by the next",
              "later(slot(base, slot), startedAt.plus(gapBefore(slot)))",
              "slot(base, slot)"),
          made(
              "slot-boundary",
              "rules/RetrySchedule.java",
              "an attempt exactly in its slot counts as early",
              "!startedAt.isBefore(message.due())",
              "startedAt.isAfter(message.due())"),
          made(
              "slot-too-early",
              "rules/RetrySchedule.java",
              "every slot is one unit early",
              "(1L << retry) - 1",
              "(1L << retry) - 2"),
          made(
              "retry-after-past-deadline",
              "rules/RetrySchedule.java",
              "Retry-After reaches past the deadline",
              "until -> earlier(until, deadline)",
              "until -> until"),
          made(
              "deadline-boundary",
              "rules/RetrySchedule.java",
              "a parked message is kept in the moment of its deadline",
              "!now.isBefore(deadline)",
              "now.isAfter(deadline)"),
          made(
              "park-forgets-base",
              "rules/RetrySchedule.java",
              "a parked message loses the last slot it used",
              "            message.attempts(),\n"
                  + "            message.slot(),\n"
                  + "            base,\n"
                  + "            deadline,",
              "            message.attempts(),\n"
                  + "            0,\n"
                  + "            base,\n"
                  + "            deadline,"),
          made(
              "rate-boundary",
              "rules/EndpointHealth.java",
              "the failure rate counts one attempt too early",
              "counted.attempts() > minAttempts",
              "counted.attempts() >= minAttempts"),
          made(
              "counts-not-reset",
              "rules/EndpointHealth.java",
              "enabling leaves the counts since enabled",
              "        Bucket.EMPTY,\n" + "        Bucket.EMPTY,\n" + "        0,",
              "        health.previous(),\n" + "        health.current(),\n" + "        0,"),
          made(
              "consecutive-not-reset",
              "rules/EndpointHealth.java",
              "enabling leaves the consecutive failures",
              "        0,\n" + "        health.lastSuccessAt(),\n" + "        null);",
              "        health.consecutiveFailures(),\n"
                  + "        health.lastSuccessAt(),\n"
                  + "        null);"),
          made(
              "freeze-boundary",
              "rules/EndpointHealth.java",
              "an endpoint freezes one failure too early",
              "health.consecutiveFailures() > disableAfter &&",
              "health.consecutiveFailures() >= disableAfter &&"),
          made(
              "old-attempt-changes-state",
              "rules/EndpointHealth.java",
              "an attempt from before the last change of state changes it again",
              "startedAt.isBefore(health.since())",
              "startedAt.isBefore(Instant.EPOCH)"),
          made(
              "probe-soon-again",
              "rules/EndpointHealth.java",
              "after a probe that failed the next is due at once",
              "health.withNextProbeAt(now.plus(probeEvery))",
              "health.withNextProbeAt(now)"),
          made(
              "slow-start-goes-on",
              "rules/Pace.java",
              "a failure in slow start does not slow down",
              "yield slowStart(most);",
              "yield this;"),
          made(
              "recovery-breaks-retry-after",
              "rules/Recovery.java",
              "recovery tries what Retry-After protects",
              "message.notBefore() != null && now.isBefore(message.notBefore())",
              "false"),
          made(
              "answer-before-commit",
              "path/Accept.java",
              "the 202 goes out before the commit",
              "    commit.add(new Commit.Entry(new Write.Accept(accepted), null, null, replyTo, weight, bytes));",
              "    turn.reply(\n"
                  + "        replyTo,\n"
                  + "        new Answer.Accepted(\n"
                  + "            accepted.stream().map(e -> new Receipt(e.event().id(), \"\", 0, false)).toList()));\n"
                  + "    commit.add(\n"
                  + "        new Commit.Entry(new Write.Accept(accepted), null, null, _ -> {}, weight, bytes));"),
          made(
              "send-before-commit",
              "path/Accept.java",
              "first attempts start before the commit",
              "    unlanded.add(firstId(accepted));",
              "    for (Write.AcceptedEvent event : accepted) {\n"
                  + "      handOver(event, turn);\n"
                  + "    }\n"
                  + "    unlanded.add(firstId(accepted));"),
          made(
              "overtaking",
              "path/Accept.java",
              "a new message overtakes older ones that only the store has",
              "boolean nothingBefore = lane.pendingUnheld() == 0;",
              "boolean nothingBefore = true;"),
          real(
              "parked-at-acceptance-forgotten",
              "path/Accept.java",
              "a message that is parked when accepted is never given up",
              "            wait.keepStored(lane, message);\n",
              ""),
          real(
              "state-not-recorded-when-full",
              "path/Commit.java",
              "a full disk makes a change of state go unrecorded",
              "for (Entry entry : withoutChanges(failed)) {",
              "for (Entry entry : failed) {"),
          made(
              "counts-lost-with-batch",
              "path/Commit.java",
              "a failed batch loses the counts of its endpoints",
              "    touched.addAll(touchedUnderWay);\n",
              ""),
          made(
              "outcomes-lost-when-full",
              "path/Commit.java",
              "a full disk loses the outcomes of attempts",
              "      pieces.addFirst(kept);\n",
              ""),
          made(
              "half-lost-in-split",
              "path/Commit.java",
              "splitting a refused batch loses half of it",
              "    pieces.addFirst(new ArrayList<>(others.subList(half, others.size())));\n",
              ""),
          made(
              "overload-not-refused",
              "path/Commit.java",
              "requests are taken however much waits to be written",
              "acceptingBytes + bytes <= limits.acceptingBytes()",
              "true"),
          real(
              "slow-start-exceeded",
              "path/Dispatch.java",
              "what waits for its event ignores that the endpoint slowed down",
              "&& (isOutOfTurn(held) || lane.started < lane.pace.limit())",
              ""),
          made(
              "hanging-take-all",
              "path/Dispatch.java",
              "endpoints that hang may take all places",
              "if (!proven && !hasUnprovenPlace()) {",
              "if (false) {"),
          real(
              "probes-take-all",
              "path/Dispatch.java",
              "probes and retries by hand ignore the bytes being sent",
              "hasPlace() && (lane.proven || hasUnprovenPlace())",
              "inFlight < limits.inFlight() && commit.hasRoomForOutcomes()"),
          made(
              "sent-though-closed",
              "path/Dispatch.java",
              "what was taken is sent though its endpoint was closed meanwhile",
              "stopped || !mayStart(held) || subscription == null",
              "stopped || subscription == null"),
          real(
              "taken-not-given-back",
              "path/Circuit.java",
              "what was taken before an endpoint closed overtakes recovery",
              "      dispatch.close(lane, turn);\n",
              ""),
          made(
              "body-leak",
              "path/Dispatch.java",
              "events stay in memory after their attempts",
              "    occupy(held, -1);\n" + "    bodies.letGo(held);",
              "    occupy(held, -1);"),
          made(
              "places-leak",
              "path/Dispatch.java",
              "a place is lost with each message dropped when it should be sent",
              "  void ended(Held held) {\n" + "    held.lane.inFlight--;",
              "  void ended(Held held) {\n"
                  + "    held.lane.inFlight -= stopped ? 0 : held.unproven ? 0 : 1;"),
          made(
              "probing-for-ever",
              "path/Dispatch.java",
              "a probe that ended leaves its endpoint marked as being probed",
              "      held.lane.probing = false;\n",
              ""),
          made(
              "two-probes",
              "path/Probe.java",
              "a second probe starts while one is in flight",
              "    held.lane.probing = true;\n",
              ""),
          real(
              "probe-not-rearmed",
              "path/Probe.java",
              "a probe that found nothing it may try is not rearmed",
              "      lookAgain(lane, LOOK_AGAIN_AFTER, turn);\n",
              ""),
          made(
              "probe-lost-at-restart",
              "path/Circuit.java",
              "a restart forgets when the next probe is due",
              "    } else {\n" + "      probe.arm(lane);\n" + "    }\n" + "    refill.want(lane);",
              "    }\n" + "    refill.want(lane);"),
          made(
              "recovery-lost-at-restart",
              "path/Circuit.java",
              "a restart forgets a recovery that is under way",
              "      if (recovering) {",
              "      if (false) {"),
          made(
              "no-slow-start",
              "path/Circuit.java",
              "recovery does not start slowly",
              "Pace.slowStart(limits.laneInFlight())",
              "Pace.full(limits.laneInFlight())"),
          made(
              "sweep-lost-at-restart",
              "path/Loop.java",
              "a restart forgets ended subscriptions",
              "    snapshot.ended().forEach(subscriptions::resume);\n",
              ""),
          real(
              "stopping-spins",
              "path/Loop.java",
              "a process that is asked to stop turns and turns",
              "        stopping\n" + "            ? new",
              "        false\n" + "            ? new"),
          made(
              "stale-read-believed",
              "path/Loads.java",
              "a read from before a write is believed",
              "return lastStarted != null && lastStarted >= number;",
              "return false;"),
          real(
              "unanswered-commit-believed",
              "path/Loads.java",
              "a read shows what is not known to be on disk, and it is sent twice",
              "if (message >= unlandedFrom) {",
              "if (false) {"),
          made(
              "failed-read-forgotten",
              "path/Loads.java",
              "a read that failed is not repeated",
              "    failed.add(load);\n",
              ""),
          real(
              "timer-boundary",
              "path/RetryTimer.java",
              "the timer spins when it is loaded exactly as far as it looks",
              "if (loadedThrough.due().isAfter(",
              "if (!loadedThrough.due().isBefore("),
          real(
              "timer-full-of-later",
              "path/RetryTimer.java",
              "a timer full of later messages keeps out earlier ones",
              "return last != null && loadedThrough.due().isBefore(last.at());",
              "return false;"),
          made(
              "evicted-not-reloaded",
              "path/RetryTimer.java",
              "what the timer has no room for is not loaded again",
              "      rewind(last.at(), last.id());\n",
              ""),
          made(
              "timer-goes-back-for-nothing",
              "path/RetryTimer.java",
              "a timer that was full when a read was under way forgets it",
              "rewind != null && rewind.due().isBefore(loadedThrough.due())",
              "false"),
          real(
              "closed-lane-forgets-parked",
              "path/Park.java",
              "a lane that closes forgets what it had left to the store",
              "    wait.bringBack(lane);\n",
              ""),
          real(
              "open-lane-forgets-parked",
              "path/Wait.java",
              "parked messages read while their endpoint recovers are forgotten when it closes",
              "        lane.leaveBehind(message);\n",
              ""),
          real(
              "backlog-pass-confused",
              "path/Refill.java",
              "a recovery that starts over takes the old pass for its own",
              "boolean startedOver = lane.backlogPass != lane.loadingBacklogPass;",
              "boolean startedOver = false;"),
          made(
              "backlog-ends-early",
              "path/Refill.java",
              "a recovery ends after its first page",
              "!startedOver && next != null",
              "!startedOver && next == null"),
          made(
              "attempts-not-counted",
              "path/Settle.java",
              "attempts are not counted",
              "            message.attempts() + 1,\n" + "            delivery.startedAt()",
              "            message.attempts(),\n" + "            delivery.startedAt()"),
          made(
              "unsubscribed-waits",
              "path/Settle.java",
              "a message whose subscription has ended during its attempt waits",
              "match.get(held.message.subscription()) == null",
              "false"),
          real(
              "recovered-while-written",
              "path/Settle.java",
              "what is due when its record is on disk waits for its slot",
              "      dispatch.offerRetry(held);\n",
              "      wait.keep(held);\n"),
          made(
              "unsubscribed-still-matched",
              "path/Subscriptions.java",
              "an ended subscription still gets events",
              "    match.remove(subscription);\n",
              ""),
          made(
              "by-hand-while-frozen",
              "path/RetryByHand.java",
              "a retry by hand reaches a frozen endpoint",
              "lane.health().state() == State.FROZEN",
              "false"));
}
