package dev.holdfast.server.cli;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Values in a file of subscriptions that stand for environment variables: {@code ${NAME}} and
 * nothing else.
 *
 * <p>The API shows no token in full, nor what the query of a URL says, so a file cannot have them;
 * and it should not, since it is kept with other text. Only URLs, tokens, secrets and the values of
 * headers can be placeholders: elsewhere, as in a filter, such a text may be meant as it stands.
 */
final class Placeholders {
  private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{([A-Za-z_][A-Za-z0-9_]*)}");
  private static final List<String> FIELDS = List.of("url", "authToken", "secret");

  /** Holdfast's own variables, keys among them, which no file may send to somebody's endpoint. */
  private static final String OWN = "HOLDFAST_";

  private final Map<String, String> environment;
  private final Set<String> used = new TreeSet<>();
  private final Map<String, List<String>> missing = new LinkedHashMap<>();
  private final List<String> own = new ArrayList<>();
  private final List<String> asTheyStand = new ArrayList<>();

  Placeholders(Map<String, String> environment) {
    this.environment = environment;
  }

  static String of(String variable) {
    return "${" + variable + "}";
  }

  /** The variable for the URL of a subscription. */
  static String urlVariable(String id) {
    return "URL_" + plain(id);
  }

  /** The variable for the token of a subscription. */
  static String tokenVariable(String id) {
    return "AUTH_TOKEN_" + plain(id);
  }

  /**
   * The variable for a header of a subscription.
   *
   * @param taken those of its other headers: X-A and X.A would get the same
   */
  static String headerVariable(String header, String id, Collection<String> taken) {
    String name = "HEADER_" + plain(header.toUpperCase(Locale.ROOT)) + "_" + plain(id);
    String free = name;
    for (int n = 2; taken.contains(free); n++) {
      free = name + "_" + n;
    }
    return free;
  }

  private static String plain(String text) {
    return text.replaceAll("[^A-Za-z0-9]", "_");
  }

  /** Puts the values in. With one that cannot be had it fails, and names all of them. */
  void fill(List<ObjectNode> subscriptions) throws CommandFailed {
    for (int i = 0; i < subscriptions.size(); i++) {
      ObjectNode subscription = subscriptions.get(i);
      String place = SubscriptionFile.place(i);
      for (String field : FIELDS) {
        fill(subscription, field, place + "." + field);
      }
      if (subscription.path("headers") instanceof ObjectNode headers) {
        for (String name : List.copyOf(headers.propertyNames())) {
          fill(headers, name, place + ".headers." + name);
        }
      }
    }
    if (!own.isEmpty()) {
      throw new CommandFailed(
          "Variables that begin with HOLDFAST_ are Holdfast's own and are sent to nobody. Nothing was sent. Give these another name:"
              + lines(own));
    }
    if (!missing.isEmpty()) {
      List<String> names = new ArrayList<>();
      missing.forEach((name, places) -> names.add(name + " for " + String.join(", ", places)));
      throw new CommandFailed(
          "Nothing was sent. These environment variables are missing or empty:" + lines(names));
    }
  }

  private void fill(ObjectNode object, String field, String place) {
    JsonNode value = object.path(field);
    if (!value.isString()) {
      return;
    }
    Matcher placeholder = PLACEHOLDER.matcher(value.stringValue());
    if (!placeholder.matches()) {
      if (placeholder.reset().find()) {
        asTheyStand.add(place);
      }
      return;
    }
    String name = Objects.requireNonNull(placeholder.group(1));
    String found = environment.getOrDefault(name, "");
    if (name.startsWith(OWN)) {
      own.add(name + " in " + place);
    } else if (found.isEmpty()) {
      missing.computeIfAbsent(name, _ -> new ArrayList<>()).add(place);
    } else {
      used.add(name);
      object.put(field, found);
    }
  }

  /** The names of the variables whose values were put in. */
  Set<String> used() {
    return used;
  }

  /** Where a placeholder is only a part of a value, which is sent as it stands. */
  List<String> asTheyStand() {
    return asTheyStand;
  }

  /** Each on a line of its own. */
  static String lines(Collection<String> texts) {
    StringBuilder lines = new StringBuilder();
    texts.forEach(text -> lines.append("%n  ".formatted()).append(Printable.text(text)));
    return lines.toString();
  }
}
