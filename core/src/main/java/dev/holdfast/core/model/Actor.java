package dev.holdfast.core.model;

import org.jspecify.annotations.Nullable;

/**
 * Who asks for something.
 *
 * @param kind how it is known
 * @param id the id of its key as people see it, where it is known by one that is stored
 * @param name what its key is called, or which user of the system it is
 */
public record Actor(Kind kind, @Nullable String id, String name) {

  /** How somebody is known. */
  public enum Kind {
    /** By a key of the API. */
    KEY,
    /** By a right to the store's files: a command that opens the store. */
    COMMAND_LINE,
    /** The server by itself. */
    SERVER,
    /** A program that the engine runs in. */
    PROGRAM
  }

  /** The server, when nobody asked. */
  public static final Actor SERVER = new Actor(Kind.SERVER, null, "holdfast");

  /** Whoever runs the engine in a program of their own. */
  public static final Actor PROGRAM = new Actor(Kind.PROGRAM, null, "program");
}
