package dev.holdfast.server.cli;

import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Makes up events as a company has them. With the same seed always the same ones. */
final class DemoEvents {
  private static final List<String> CUSTOMERS =
      List.of(
          "Alder & Sons",
          "Birch Logistics",
          "Cedar Clinic",
          "Dogwood Media",
          "Elm Street Bakery",
          "Fir Engineering",
          "Ginkgo Games",
          "Hazel Hotels",
          "Ironwood Tools",
          "Juniper Books");
  private static final List<String> COUNTRIES = List.of("AT", "CH", "DE", "FR", "NL", "SE", "US");
  private static final List<String> PEOPLE =
      List.of(
          "Ada Berg",
          "Ben Okoro",
          "Carla Ruiz",
          "Dan Novak",
          "Eva Lind",
          "Femi Ade",
          "Gus Weber",
          "Hana Sato",
          "Ines Costa",
          "Jon Falk");
  private static final List<String> PROJECTS =
      List.of("Spring catalogue", "New warehouse", "Website relaunch", "Fair in Lyon", "Audit");
  private static final List<String> TASKS =
      List.of("Write the brief", "Check the numbers", "Take pictures", "Call the printer", "Test");
  private static final List<String> GOODS =
      List.of("CHAIR-04", "DESK-11", "LAMP-27", "SHELF-02", "SOFA-19", "TABLE-08");

  private final SplittableRandom random;
  private int number = 1_000;

  DemoEvents(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /** The next event, as {@code POST /v1/events} takes it. */
  String next() {
    number++;
    int of = random.nextInt(100);
    ObjectNode event;
    if (of < 36) {
      event = order();
    } else if (of < 56) {
      event = invoice();
    } else if (of < 68) {
      event = timesheet();
    } else if (of < 78) {
      event = user();
    } else if (of < 86) {
      event = project();
    } else if (of < 95) {
      event = task();
    } else {
      event = payment();
    }
    return event.toString();
  }

  private ObjectNode order() {
    String became = one(List.of("created", "created", "paid", "shipped", "cancelled"));
    ObjectNode data = Item.create();
    data.put("order", "order-" + number);
    data.set("customer", customer());
    ArrayNode lines = data.putArray("lines");
    BigDecimal amount = BigDecimal.ZERO;
    for (int line = random.nextInt(1, 4); line > 0; line--) {
      BigDecimal price = money(10, 400);
      int quantity = random.nextInt(1, 4);
      amount = amount.add(price.multiply(BigDecimal.valueOf(quantity)));
      lines.addObject().put("sku", one(GOODS)).put("quantity", quantity).put("price", price);
    }
    data.put("amount", amount).put("currency", "EUR").put("status", became);
    return became.equals("created")
        ? event("order." + became, "order-" + number, data)
        : changed("order." + became, "order-" + number, data, "status", "open");
  }

  private ObjectNode invoice() {
    String became = one(List.of("issued", "issued", "paid", "paid", "overdue"));
    ObjectNode data = Item.create();
    data.put("invoice", String.format(Locale.ROOT, "2026-%05d", number));
    data.set("customer", customer());
    data.put("amount", money(50, 9_000))
        .put("currency", "EUR")
        .put("daysToPay", 14 * random.nextInt(1, 4))
        .put("status", became);
    return changed("invoice." + became, "invoice-" + number, data, "status", "draft");
  }

  private ObjectNode timesheet() {
    String became = one(List.of("submitted", "approved", "rejected"));
    ObjectNode data = Item.create();
    data.put("person", one(PEOPLE))
        .put("week", "2026-W" + random.nextInt(10, 52))
        .put("hours", BigDecimal.valueOf(random.nextInt(60, 180), 1).stripTrailingZeros())
        .put("project", one(PROJECTS))
        .put("status", became);
    return changed("timesheet." + became, "timesheet-" + number, data, "status", "open");
  }

  private ObjectNode user() {
    String became = one(List.of("invited", "joined", "left"));
    String name = one(PEOPLE);
    ObjectNode data = Item.create();
    data.put("name", name)
        .put("email", name.toLowerCase(Locale.ROOT).replace(' ', '.') + "@example.com")
        .put("role", one(List.of("planner", "reviewer", "worker")));
    return event("user." + became, "user-" + number, data);
  }

  private ObjectNode project() {
    ObjectNode data = Item.create();
    int percent = random.nextInt(1, 101);
    data.put("name", one(PROJECTS)).put("owner", one(PEOPLE)).put("percentComplete", percent);
    ObjectNode event = event("project.updated", "project-" + random.nextInt(1, 40), data);
    event.set("previous", data.deepCopy().put("percentComplete", random.nextInt(percent)));
    return event;
  }

  private ObjectNode task() {
    String became = one(List.of("assigned", "completed"));
    ObjectNode data = Item.create();
    data.put("name", one(TASKS)).put("project", one(PROJECTS)).put("assignee", one(PEOPLE));
    return event("task." + became, "task-" + number, data);
  }

  private ObjectNode payment() {
    String became = one(List.of("received", "received", "refunded"));
    ObjectNode data = Item.create();
    data.put("invoice", String.format(Locale.ROOT, "2026-%05d", number))
        .put("amount", money(50, 9_000))
        .put("currency", "EUR")
        .put("method", one(List.of("card", "transfer", "direct debit")));
    return event("payment." + became, "payment-" + number, data);
  }

  private ObjectNode customer() {
    ObjectNode customer = Item.create();
    int which = random.nextInt(CUSTOMERS.size());
    return customer
        .put("id", "customer-" + (100 + which))
        .put("name", CUSTOMERS.get(which))
        .put("country", one(COUNTRIES));
  }

  private static ObjectNode changed(
      String type, String subject, ObjectNode data, String field, String before) {
    ObjectNode event = event(type, subject, data);
    event.set("previous", data.deepCopy().put(field, before));
    return event;
  }

  private static ObjectNode event(String type, String subject, ObjectNode data) {
    ObjectNode event = Item.create();
    event.put("type", type).put("subject", subject).set("data", data);
    return event;
  }

  private BigDecimal money(int from, int to) {
    return BigDecimal.valueOf(random.nextLong(100L * from, 100L * to), 2);
  }

  private String one(List<String> of) {
    return of.get(random.nextInt(of.size()));
  }
}
