package dev.holdfast.server.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Ansi;

/** Rows for a person: aligned, and on a terminal no wider than it. */
final class Table {
  private static final String GAP = "  ";
  private static final int NARROWEST = 12;

  private final List<Column> columns;
  private final List<List<Cell>> rows = new ArrayList<>();

  /** A column and how it is laid out. */
  record Column(String heading, Layout layout) {
    static Column text(String heading) {
      return new Column(heading, Layout.LEFT);
    }

    static Column number(String heading) {
      return new Column(heading, Layout.RIGHT);
    }

    /** Gives way when there is too little room. */
    static Column cut(String heading) {
      return new Column(heading, Layout.CUT);
    }
  }

  /** How the texts of a column stand. */
  enum Layout {
    LEFT,
    RIGHT,
    CUT
  }

  /** A text, and how it is to stand out. */
  record Cell(String text, Ansi.@Nullable Style style) {
    static Cell of(String text) {
      return new Cell(Printable.text(text), null);
    }

    static Cell of(String text, Ansi.Style style) {
      return new Cell(Printable.text(text), style);
    }
  }

  Table(Column... columns) {
    this.columns = List.of(columns);
  }

  void row(Cell... cells) {
    if (cells.length != columns.size()) {
      throw new IllegalArgumentException(cells.length + " cells in " + columns.size() + " columns");
    }
    rows.add(List.of(cells));
  }

  boolean isEmpty() {
    return rows.isEmpty();
  }

  void print(PrintWriter out, Screen screen) {
    int[] widths = new int[columns.size()];
    for (int i = 0; i < widths.length; i++) {
      widths[i] = columns.get(i).heading().length();
      for (List<Cell> row : rows) {
        widths[i] = Math.max(widths[i], length(row.get(i).text()));
      }
    }
    if (screen.isTerminal()) {
      fit(widths, screen.width());
    }
    List<Cell> headings =
        columns.stream().map(column -> Cell.of(column.heading(), Ansi.Style.bold)).toList();
    out.println(line(headings, widths, screen));
    for (List<Cell> row : rows) {
      out.println(line(row, widths, screen));
    }
    out.flush();
  }

  private void fit(int[] widths, int most) {
    int total = GAP.length() * (widths.length - 1);
    for (int width : widths) {
      total += width;
    }
    for (int i = widths.length - 1; i >= 0 && total > most; i--) {
      if (columns.get(i).layout() == Layout.CUT) {
        int narrower = Math.max(Math.min(NARROWEST, widths[i]), widths[i] - (total - most));
        total -= widths[i] - narrower;
        widths[i] = narrower;
      }
    }
  }

  private String line(List<Cell> cells, int[] widths, Screen screen) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      Cell cell = cells.get(i);
      String text = cut(cell.text(), widths[i]);
      String space = " ".repeat(widths[i] - length(text));
      String styled = cell.style() == null ? text : screen.styled(cell.style(), text);
      boolean right = columns.get(i).layout() == Layout.RIGHT;
      line.append(i == 0 ? "" : GAP).append(right ? space + styled : styled + space);
    }
    return line.toString().stripTrailing();
  }

  private static int length(String text) {
    return text.codePointCount(0, text.length());
  }

  private static String cut(String text, int most) {
    return length(text) <= most
        ? text
        : text.substring(0, text.offsetByCodePoints(0, most - 1)) + "…";
  }
}
