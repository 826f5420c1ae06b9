package dev.holdfast.server.cli;

import dev.holdfast.server.cli.Table.Cell;
import dev.holdfast.server.cli.Table.Column;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code holdfast cluster}. */
@Command(
    name = "cluster",
    description = {
      "Show the servers that share a database, and what each of them does.",
      "",
      "SHARDS is for how many of the 256 parts of all endpoints a server decides; LEASE is for how",
      "long it keeps them if it is not heard of; CLOCK is by how much the database's clock is ahead."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  ./holdfast cluster",
      "  ./holdfast cluster --json",
      "",
      "It needs a key for all tenants, of any role but publisher. " + ClientOptions.EXIT_CODES
    })
final class ClusterCommand implements Callable<Integer> {
  @Mixin private @Nullable ClientOptions client;

  @Override
  public Integer call() {
    ClientOptions asked = Objects.requireNonNull(client, "picocli sets it");
    return asked.run(
        api -> {
          Item cluster = api.get("/v1/cluster");
          if (asked.isJson()) {
            asked.out().println(cluster.json());
          } else {
            print(asked, cluster);
          }
        });
  }

  private static void print(ClientOptions client, Item cluster) {
    Table table =
        new Table(
            Column.number("NODE"),
            Column.cut("NAME"),
            Column.text("VERSION"),
            Column.text("SINCE"),
            Column.number("LEASE"),
            Column.number("SHARDS"),
            Column.number("IN FLIGHT"),
            Column.number("PENDING"),
            Column.number("WAITING"),
            Column.number("PARKED"),
            Column.number("ACCEPTED"),
            Column.number("DELIVERED"),
            Column.number("CLOCK"));
    for (Item node : cluster.list("nodes")) {
      Item report = node.object("report");
      table.row(
          Cell.of(node.text("id") + (node.number("id") == cluster.number("self") ? "*" : "")),
          Cell.of(node.text("name")),
          Cell.of(node.shown("version")),
          Cell.of(Ago.text(client.now(), node.time("since"))),
          Cell.of(node.isNull("leaseLeftMillis") ? "-" : millis(node, "leaseLeftMillis")),
          Cell.of(node.count("shards")),
          Cell.of(report.count("inFlight")),
          Cell.of(report.count("pending")),
          Cell.of(report.count("waiting")),
          Cell.of(report.count("parked")),
          Cell.of(report.count("eventsAccepted")),
          Cell.of(report.count("delivered")),
          Cell.of(millis(report, "clockOffsetMillis")));
    }
    table.print(client.out(), client.screen());
    long free = cluster.list("shards").stream().filter(shard -> shard.isNull("node")).count();
    Item lag = cluster.object("lag");
    client
        .out()
        .printf(
            "%n* was asked. %d shards are nobody's; %s handovers are not taken, the oldest since %s.%n",
            free,
            lag.count("handovers"),
            lag.isNull("oldestHandoverMillis") ? "-" : millis(lag, "oldestHandoverMillis"));
    client.out().flush();
  }

  private static String millis(Item item, String field) {
    return item.count(field) + " ms";
  }
}
