package dev.holdfast.proof.simulation;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A bug that is put into the engine to see whether the simulation finds it. All of them are in
 * {@code mutants.txt}.
 *
 * @param what what goes wrong
 * @param file the source file, within the engine's package
 * @param original the lines that are replaced; they are in the file once
 * @param broken the lines that replace them
 * @param real whether the engine once had this bug, until the simulation found it
 * @param worlds the first seed of the worlds in which it is looked for
 */
record Mutant(
    String name,
    String what,
    String file,
    String original,
    String broken,
    boolean real,
    long worlds) {

  private static final String REAL = "*";
  private static final String CHANGING = "+";
  private static final String NEWCOMERS = "~";
  private static final String VERSIONS = "^";

  static List<Mutant> all() {
    try (InputStream in = Mutant.class.getResourceAsStream("mutants.txt")) {
      if (in == null) {
        throw new IllegalStateException("mutants.txt is missing");
      }
      return parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new IllegalStateException("cannot read mutants.txt", e);
    }
  }

  static List<Mutant> parse(String text) {
    List<Mutant> mutants = new ArrayList<>();
    for (String paragraph : text.split("\n\n", -1)) {
      if (!paragraph.startsWith("#")) {
        mutants.add(parseOne(paragraph.lines().toList()));
      }
    }
    return mutants;
  }

  private static Mutant parseOne(List<String> lines) {
    List<String> words = List.of(lines.getFirst().split(" ", -1));
    return new Mutant(
        words.getFirst(),
        lines.get(1),
        lines.get(2),
        marked(lines, "-"),
        marked(lines, "+"),
        words.contains(REAL),
        worlds(words));
  }

  private static long worlds(List<String> words) {
    if (words.contains(VERSIONS)) {
      return WorldMaker.VERSIONS_FROM;
    }
    if (words.contains(NEWCOMERS)) {
      return WorldMaker.NEWCOMERS_FROM;
    }
    return words.contains(CHANGING) ? WorldMaker.CHANGING : 0;
  }

  private static String marked(List<String> lines, String mark) {
    StringBuilder text = new StringBuilder();
    for (String line : lines.subList(3, lines.size())) {
      if (line.startsWith(mark)) {
        text.append(line.substring(mark.length())).append('\n');
      }
    }
    return text.toString();
  }
}
