package dev.holdfast.server.api;

import dev.holdfast.server.api.Problem.Kind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Looks up where subscriptions are to be delivered to, before they are made. What can be told
 * without a name server has been checked when they were read.
 */
final class Destinations {
  private final EndpointUrls urls;

  Destinations(EndpointUrls urls) {
    this.urls = urls;
  }

  /** Names that are to be looked up, each with the field that has it first. */
  record Named(Map<String, String> fields) {}

  /** The names in URLs that are in their normal form. */
  Named named(List<String> normalised) {
    Map<String, String> fields = new LinkedHashMap<>();
    for (int i = 0; i < normalised.size(); i++) {
      String field = "subscriptions[" + i + "].url";
      urls.nameToLookUp(normalised.get(i)).ifPresent(name -> fields.putIfAbsent(name, field));
    }
    return new Named(fields);
  }

  /** Goes on if something may be sent to a URL in its normal form, else refuses it. */
  void check(Exchange exchange, @Nullable String normalised, Runnable goOn) {
    Map<String, String> fields =
        normalised == null
            ? Map.of()
            : urls.nameToLookUp(normalised).stream()
                .collect(Collectors.toMap(name -> name, _ -> "url"));
    check(exchange, new Named(fields), goOn);
  }

  /**
   * Goes on if none of the names leads only to where nothing may be sent, else refuses the first
   * one. A caller who has left meanwhile gets nothing made: nobody would know of it.
   */
  void check(Exchange exchange, Named named, Runnable goOn) {
    if (named.fields().isEmpty()) {
      goOn.run();
      return;
    }
    exchange.then(
        urls.findForbidden(named.fields().keySet()),
        forbidden -> {
          refuse(named, forbidden);
          if (!exchange.isOver()) {
            goOn.run();
          }
        });
  }

  private static void refuse(Named named, Set<String> forbidden) {
    named
        .fields()
        .forEach(
            (name, field) -> {
              if (forbidden.contains(name)) {
                throw Refusal.of(Kind.INVALID_FIELD, field, sentence(name));
              }
            });
  }

  /** Says nothing of the addresses: nobody is to learn by this what our network looks like. */
  private static String sentence(String name) {
    return "The host "
        + Text.shown(name)
        + " leads only to addresses that nothing may be sent to. Use one with a public address,"
        + " or ask the operator whether the egress rules can allow it (egress.allow).";
  }
}
