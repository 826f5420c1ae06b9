package dev.holdfast.server.cli;

import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** A file of {@code key=value} lines, in the format of Java's properties and in UTF-8. */
final class ConfigFile {
  private static final long MOST_BYTES = 1 << 20;

  /** One assignment and the line that it starts on. */
  record Entry(String key, String value, int line) {}

  private ConfigFile() {}

  /**
   * All assignments in the order of the file.
   *
   * @throws BadValue when there is no such file or it cannot be read
   */
  static List<Entry> read(Path file) throws BadValue {
    return entries(lines(file));
  }

  private static List<String> lines(Path file) throws BadValue {
    try {
      if (Files.isDirectory(file)) {
        throw new BadValue("is a directory, not a file");
      }
      if (Files.size(file) > MOST_BYTES) {
        throw new BadValue("is larger than 1 MB and can hardly be a settings file");
      }
      String text = Files.readString(file, StandardCharsets.UTF_8);
      return (text.startsWith("\uFEFF") ? text.substring(1) : text).lines().toList();
    } catch (NoSuchFileException e) {
      throw new BadValue("does not exist");
    } catch (AccessDeniedException e) {
      throw new BadValue("may not be read by this user");
    } catch (CharacterCodingException e) {
      throw new BadValue("is not UTF-8 text");
    } catch (IOException e) {
      throw new BadValue("cannot be read: " + e.getMessage());
    }
  }

  /** Line by line, because {@link Properties} tells neither lines nor repeated keys. */
  private static List<Entry> entries(List<String> lines) throws BadValue {
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      int first = i;
      StringBuilder logical = new StringBuilder(lines.get(i));
      while (!isComment(lines.get(first)) && isContinued(lines.get(i)) && i + 1 < lines.size()) {
        logical.append('\n').append(lines.get(++i));
      }
      Properties properties = new Properties();
      try {
        properties.load(new StringReader(logical.toString()));
      } catch (IOException | IllegalArgumentException e) {
        throw new BadValue("cannot be read: line " + (first + 1) + " has a malformed \\u escape");
      }
      properties.forEach(
          (key, value) ->
              entries.add(new Entry((String) key, ((String) value).strip(), first + 1)));
    }
    return entries;
  }

  private static boolean isComment(String line) {
    String text = line.stripLeading();
    return text.startsWith("#") || text.startsWith("!");
  }

  private static boolean isContinued(String line) {
    int backslashes = 0;
    while (backslashes < line.length() && line.charAt(line.length() - 1 - backslashes) == '\\') {
      backslashes++;
    }
    return backslashes % 2 == 1;
  }
}
