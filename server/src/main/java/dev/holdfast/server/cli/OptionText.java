package dev.holdfast.server.cli;

import picocli.CommandLine;
import picocli.CommandLine.TypeConversionException;

/** Reads the values of options, and says what is wrong with them as a person would. */
final class OptionText {

  private OptionText() {}

  static <T> T read(Kind<T> kind, String text) {
    try {
      return kind.read(text);
    } catch (BadValue e) {
      String meant = e.suggestion() == null ? "" : "; did you mean " + e.suggestion() + "?";
      throw new TypeConversionException(
          "'%s' %s; allowed is %s%s"
              .formatted(Printable.text(text, 80), e.what(), kind.allowed(), meant));
    }
  }

  /** For options of every command that have no converter of their own. */
  static void install(CommandLine line) {
    line.registerConverter(int.class, OptionText::wholeInt);
    line.registerConverter(Integer.class, OptionText::wholeInt);
    line.registerConverter(long.class, OptionText::wholeLong);
    line.registerConverter(Long.class, OptionText::wholeLong);
  }

  private static int wholeInt(String text) {
    return (int) whole(text, Integer.MIN_VALUE, Integer.MAX_VALUE);
  }

  private static long wholeLong(String text) {
    return whole(text, Long.MIN_VALUE, Long.MAX_VALUE);
  }

  private static long whole(String text, long least, long most) {
    try {
      long number = Long.parseLong(text.strip());
      if (number >= least && number <= most) {
        return number;
      }
      throw new TypeConversionException(
          "'%s' is too large a number".formatted(Printable.text(text, 80)));
    } catch (NumberFormatException e) {
      throw new TypeConversionException(
          "'%s' is not a whole number such as 100".formatted(Printable.text(text, 80)));
    }
  }
}
