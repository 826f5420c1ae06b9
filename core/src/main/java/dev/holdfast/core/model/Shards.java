package dev.holdfast.core.model;

import java.util.BitSet;
import java.util.Collection;
import java.util.List;

/**
 * Some of the shards that everything with an id belongs to. Endpoints have one each, and so have
 * replays and events whose messages are made in steps; each shard has one node at a time that
 * decides for what is in it. A store that nobody shares has one node, for all of them.
 */
public final class Shards {
  /** How many there are. Never to be changed: rows say which one they are in. */
  public static final int COUNT = 256;

  public static final Shards NONE = new Shards(new BitSet(COUNT));
  public static final Shards ALL = all();

  private final BitSet members;

  private Shards(BitSet members) {
    this.members = members;
  }

  private static Shards all() {
    BitSet all = new BitSet(COUNT);
    all.set(0, COUNT);
    return new Shards(all);
  }

  /** The shard of what has this id. */
  public static int of(long id) {
    // Ids of one node differ in their middle bits only: the golden ratio spreads them.
    return (int) ((id * 0x9E37_79B9_7F4A_7C15L) >>> 56);
  }

  public static Shards of(Collection<Integer> numbers) {
    BitSet members = new BitSet(COUNT);
    numbers.forEach(members::set);
    if (members.length() > COUNT) {
      throw new IllegalArgumentException("shards are 0 to " + (COUNT - 1) + ": " + numbers);
    }
    return new Shards(members);
  }

  public boolean contains(int shard) {
    return members.get(shard);
  }

  /** Whether what has this id belongs to one of them. */
  public boolean has(long id) {
    return members.get(of(id));
  }

  /** Whether any of others is among them. */
  public boolean hasAny(Shards others) {
    return members.intersects(others.members);
  }

  public Shards plus(Shards others) {
    BitSet both = (BitSet) members.clone();
    both.or(others.members);
    return new Shards(both);
  }

  /** Those that are also among others. */
  public Shards common(Shards others) {
    BitSet both = (BitSet) members.clone();
    both.and(others.members);
    return new Shards(both);
  }

  public Shards minus(Shards others) {
    BitSet rest = (BitSet) members.clone();
    rest.andNot(others.members);
    return new Shards(rest);
  }

  public boolean isEmpty() {
    return members.isEmpty();
  }

  public int size() {
    return members.cardinality();
  }

  /** Their numbers, the lowest first. */
  public List<Integer> numbers() {
    return members.stream().boxed().toList();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Shards shards && members.equals(shards.members);
  }

  @Override
  public int hashCode() {
    return members.hashCode();
  }

  @Override
  public String toString() {
    return members.toString();
  }
}
