package dev.holdfast.server.cli;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Follows the chains of the audit log from their heads back to their beginnings, and believes
 * nothing that it has not computed itself: each entry's hash is that of the hash before it and of
 * its own text.
 */
final class AuditTrail {
  private static final String NOTHING_BEFORE = "0".repeat(64);

  private final Map<String, Chain> chains = new TreeMap<>();
  private final List<Head> kept;
  private final MessageDigest sha256;
  private long entries;

  /**
   * An entry that somebody knows.
   *
   * @param chain a tenant, or empty for what concerns all of them
   */
  record Head(String chain, long number, String hash) {

    /** Reads {@code acme:12:9f86…}. */
    static Optional<Head> parse(String text) {
      String[] parts = text.strip().split(":", -1);
      if (parts.length != 3
          || !parts[1].matches("[1-9]\\d{0,17}")
          || !parts[2].matches("[0-9a-f]{64}")) {
        return Optional.empty();
      }
      return Optional.of(new Head(parts[0], Long.parseLong(parts[1]), parts[2]));
    }

    @Override
    public String toString() {
      return chain + ":" + number + ":" + hash;
    }
  }

  /** What is wrong with a chain: the first entry of it that is not right, and how. */
  record Problem(String chain, long number, String what) {}

  private static final class Chain {
    final Head head;
    long number;
    String previous;
    @Nullable Problem problem;

    Chain(Head head, String previous) {
      this.head = head;
      this.number = head.number();
      this.previous = previous;
    }

    /** The first entry that is wrong counts, and what was found first about it. */
    void wrong(long at, String what) {
      if (problem == null || at < problem.number()) {
        problem = new Problem(head.chain(), at, what);
      }
    }
  }

  /** Expects these entries to be there. */
  AuditTrail(List<Head> kept) {
    this.kept = new ArrayList<>(kept);
    try {
      sha256 = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /**
   * Takes the next entry, each chain's from its last to its first.
   *
   * @param text the entry as it was hashed
   */
  void add(String name, String text, String previous, String hash) {
    entries++;
    Item entry = Item.read(text);
    long number = entry == null ? 0 : entry.number("number");
    Chain chain = chains.get(name);
    if (chain == null) {
      chain = new Chain(new Head(name, number, hash), previous);
      chains.put(name, chain);
    } else {
      follow(chain, number, hash);
      chain.number = number;
      chain.previous = previous;
    }
    if (!hash.equals(hash(previous, text)) || entry == null || !name.equals(entry.text("chain"))) {
      chain.wrong(number, "was changed");
    }
    for (Head known : List.copyOf(kept)) {
      if (known.chain().equals(name) && known.number() == number) {
        kept.remove(known);
        if (!known.hash().equals(hash)) {
          chain.wrong(number, "is not the one that was kept");
        }
      }
    }
  }

  private static void follow(Chain chain, long number, String hash) {
    if (number < chain.number - 1) {
      chain.wrong(number + 1, "is missing");
    } else if (number != chain.number - 1) {
      chain.wrong(number, "is not in its place");
    } else if (!hash.equals(chain.previous)) {
      chain.wrong(chain.number, "does not follow the one before it");
    }
  }

  private String hash(String previous, String text) {
    try {
      sha256.update(HexFormat.of().parseHex(previous));
    } catch (IllegalArgumentException e) {
      return "";
    }
    return HexFormat.of().formatHex(sha256.digest(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** What is wrong, when all entries were taken: one problem for each chain that has any. */
  List<Problem> problems() {
    List<Problem> found = new ArrayList<>();
    for (Chain chain : chains.values()) {
      if (chain.number != 1) {
        chain.wrong(1, "is missing");
      } else if (!chain.previous.equals(NOTHING_BEFORE)) {
        chain.wrong(1, "has something before it");
      }
      if (chain.problem != null) {
        found.add(chain.problem);
      }
    }
    for (Head missing : kept) {
      found.add(
          new Problem(
              missing.chain(),
              missing.number(),
              "was kept and is missing: the end of the chain was cut off"));
    }
    return found;
  }

  /** The last entry of each chain. */
  List<Head> heads() {
    return chains.values().stream().map(chain -> chain.head).toList();
  }

  long entries() {
    return entries;
  }
}
