package dev.holdfast.server.api;

import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.SplittableRandom;

/** JSON as text, right or wrong in ways that parsers and checks stumble over. */
final class RandomJson {

  /** A member of an object: both as they stand in the text, the name with its quotes. */
  record Member(String name, String value) {
    static Member of(String name, String value) {
      return new Member("\"" + name + "\"", value);
    }
  }

  private static final List<String> VALUES =
      List.of(
          "null",
          "true",
          "false",
          "0",
          "-0",
          "1e999",
          "-1E-9999",
          "0.1",
          "9".repeat(400),
          "1." + "3".repeat(5_000),
          "9223372036854775808",
          "\"\"",
          "\"x\"",
          "[]",
          "{}",
          "[null]",
          "[[[]]]",
          "{\"a\":{\"b\":[1,2,{}]}}",
          "{\"a\":1,\"a\":2}",
          "{\"\":0}",
          "\"2026-03-01T12:00:00Z\"",
          "\"2026-02-30T25:61:61Z\"",
          "\"-999999999-01-01T00:00:00Z\"",
          "\"0000-01-01T00:00:00+18:00\"",
          "\"9999-12-31T23:59:59.999999999-18:00\"",
          "\"\\ud800\"",
          "\"\\udc00\\ud800\"",
          "\"\\ud83d\\ude42\"",
          "\"\\u0000\"",
          "\"\\u202e\\ufeff\\uffff\"",
          "\"🙂é\uFEFF\u2028\"",
          "\"e\u0301\u0301\u0301\"",
          "\"*\"",
          "\"**.*\"",
          "\"evt_00HN3XW5G0400\"",
          "\"../../etc\"",
          "\"http://[::1]:0/\"",
          "\"https://user:pass@127.0.0.1:9/#x\"",
          "\"http://127.0.0.1:99999/\"",
          "\"javascript:alert(1)\"",
          "\"http://\u00e9.example/\"",
          "[\"a\",\"a\",\"\"]",
          "[1,\"a\",null]");

  /** Not JSON at all. */
  private static final List<String> NONSENSE =
      List.of(
          "",
          "NaN",
          "Infinity",
          "'x'",
          "undefined",
          "01",
          "1.",
          ".5",
          "+1",
          "0x10",
          "tru",
          "\"",
          "\"\\x\"",
          "\"\\u12\"",
          "\"\n\"",
          "\"\u0000\"",
          "[1,]",
          "{\"a\"}",
          "{a:1}",
          "[",
          "{",
          "}",
          "]",
          "/* */ 1",
          "1 1",
          "\uFEFF1");

  private static final List<String> CONNECTORS = List.of("\"AND\"", "\"OR\"");
  private static final List<String> STATES = List.of("\"newState\"", "\"oldState\"");

  private static final List<String> FIELD_NAMES =
      List.of("\"a\"", "\"b\"", "\"é.🙂\"", "\"a.b\"", "\" \"");

  private static final List<String> COMPARISONS =
      List.of(
          "\"eq\"",
          "\"ne\"",
          "\"gt\"",
          "\"gte\"",
          "\"lt\"",
          "\"lte\"",
          "\"contains\"",
          "\"notContains\"",
          "\"containsOnly\"",
          "\"changed\"");

  private final SplittableRandom random;

  RandomJson(SplittableRandom random) {
    this.random = random;
  }

  String value() {
    return switch (random.nextInt(12)) {
      case 0 -> nested(random.nextInt(1, 700));
      case 1 -> "\"" + "y".repeat(random.nextInt(250, 260)) + "\"";
      case 2 -> "\"" + "z".repeat(random.nextInt(70_000)) + "\"";
      case 3 -> "[" + "0,".repeat(random.nextInt(2_000)) + "0]";
      default -> pick(VALUES);
    };
  }

  /** Filters, most of which can work. */
  String filters() {
    List<String> filters = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      filters.add(random.nextInt(4) == 0 ? group() : comparison());
    }
    return "[" + String.join(",", filters) + "]";
  }

  private String group() {
    List<String> filters = new ArrayList<>();
    for (int i = random.nextInt(1, 5); i > 0; i--) {
      filters.add(comparison());
    }
    return mostly(
        List.of(
            Member.of("type", "\"group\""),
            Member.of("connector", pick(CONNECTORS)),
            Member.of("filters", "[" + String.join(",", filters) + "]")));
  }

  private String comparison() {
    List<Member> comparison = new ArrayList<>();
    comparison.add(Member.of("fieldName", pick(FIELD_NAMES)));
    comparison.add(Member.of("comparison", pick(COMPARISONS)));
    comparison.add(Member.of("fieldValue", pick(VALUES)));
    if (random.nextBoolean()) {
      comparison.add(Member.of("state", pick(STATES)));
    }
    return mostly(comparison);
  }

  /** An object of these members, now and then changed. */
  private String mostly(List<Member> members) {
    return object(random.nextInt(12) == 0 ? changed(members) : members);
  }

  /** A payload that has fields which filters ask for. */
  String payload() {
    List<Member> fields = new ArrayList<>();
    for (String name : FIELD_NAMES) {
      if (random.nextBoolean()) {
        fields.add(new Member(name, pick(VALUES)));
      }
    }
    return random.nextInt(6) == 0 ? value() : object(fields);
  }

  private String nested(int depth) {
    return random.nextBoolean()
        ? "[".repeat(depth) + "]".repeat(depth)
        : "{\"a\":".repeat(depth) + "0" + "}".repeat(depth);
  }

  /** Changes the members: other values, names and orders; fewer, more and doubled ones. */
  List<Member> changed(List<Member> members) {
    List<Member> changed = new ArrayList<>(members);
    for (int i = random.nextInt(1, 4); i > 0 && !changed.isEmpty(); i--) {
      int at = random.nextInt(changed.size());
      Member member = changed.get(at);
      switch (random.nextInt(9)) {
        case 0, 1, 2, 3 -> changed.set(at, new Member(member.name(), value()));
        case 4 -> changed.remove(at);
        case 5 -> changed.add(random.nextInt(changed.size() + 1), member);
        case 6 -> changed.set(at, new Member(name(member.name()), member.value()));
        case 7 -> changed.add(new Member(name(member.name()), value()));
        default -> Collections.shuffle(changed, new Random(random.nextLong()));
      }
    }
    return changed;
  }

  private String name(String name) {
    return switch (random.nextInt(6)) {
      case 0 -> name.toUpperCase(Locale.ROOT);
      case 1 -> "\"\"";
      case 2 -> "\"\\u00" + Integer.toHexString(name.charAt(1)) + name.substring(2);
      case 3 -> "\"" + "n".repeat(random.nextInt(60_000)) + "\"";
      case 4 -> "\"\\ud800\"";
      default -> "\"unknown\"";
    };
  }

  String object(List<Member> members) {
    StringBuilder text = new StringBuilder("{");
    for (int i = 0; i < members.size(); i++) {
      text.append(i == 0 ? "" : ",").append(space());
      text.append(members.get(i).name()).append(space()).append(':').append(space());
      text.append(members.get(i).value()).append(space());
    }
    return text.append('}').toString();
  }

  private String space() {
    return switch (random.nextInt(12)) {
      case 0 -> " ";
      case 1 -> "\r\n\t";
      default -> "";
    };
  }

  /** Text that is no JSON, or bytes that are no text. */
  byte[] broken(byte[] json) {
    int at = random.nextInt(json.length + 1);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    switch (random.nextInt(6)) {
      case 0 -> {
        out.write(json, 0, at);
        out.writeBytes(pick(NONSENSE).getBytes(UTF_8));
        out.write(json, at, json.length - at);
      }
      case 1 -> out.write(json, 0, at);
      case 2 -> {
        int skip = Math.min(random.nextInt(5), json.length - at);
        out.write(json, 0, at);
        out.write(json, at + skip, json.length - at - skip);
      }
      case 3 -> {
        out.writeBytes(json);
        out.write(json, at, json.length - at);
      }
      case 4 -> out.writeBytes(new String(json, UTF_8).getBytes(UTF_16));
      default -> {
        out.writeBytes(json);
        byte[] changed = out.toByteArray();
        for (int i = random.nextInt(1, 5); i > 0 && changed.length > 0; i--) {
          changed[random.nextInt(changed.length)] = (byte) random.nextInt();
        }
        return changed;
      }
    }
    return out.toByteArray();
  }

  <T> T pick(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }
}
