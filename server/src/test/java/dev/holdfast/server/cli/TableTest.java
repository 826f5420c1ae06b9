package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.cli.Table.Cell;
import dev.holdfast.server.cli.Table.Column;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Help.Ansi;

class TableTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  @Test
  void texts_stand_left_and_numbers_right() {
    Table table = new Table(Column.text("NAME"), Column.number("N"), Column.text("LAST"));
    table.row(Cell.of("a"), Cell.of("1"), Cell.of("x"));
    table.row(Cell.of("longer"), Cell.of("1,000"), Cell.of(""));
    assertThat(printed(table, Screen.NONE))
        .isEqualTo(
            """
            NAME        N  LAST
            a           1  x
            longer  1,000
            """);
  }

  @Test
  void a_terminal_cuts_what_may_be_cut_and_a_file_gets_all() {
    Table table = new Table(Column.text("ID"), Column.cut("URL"));
    table.row(Cell.of("ep_1"), Cell.of("http://example.com/a/long/path"));
    assertThat(printed(table, new Screen(true, false, () -> 20)))
        .isEqualTo(
            """
            ID    URL
            ep_1  http://exampl…
            """);
    assertThat(printed(table, Screen.NONE)).contains("http://example.com/a/long/path");
  }

  @Test
  void colours_do_not_move_columns() {
    Table table = new Table(Column.text("A"), Column.text("B"));
    table.row(Cell.of("on", Ansi.Style.fg_green), Cell.of("x"));
    assertThat(printed(table, new Screen(true, true, () -> 80)))
        .contains(Ansi.Style.fg_green.on() + "on" + Ansi.Style.reset.on() + "  x");
    assertThat(printed(table, new Screen(true, false, () -> 80))).contains("on  x");
  }

  @Test
  void times_are_told_as_people_say_them() {
    assertThat(ago(Duration.ZERO)).isEqualTo("now");
    assertThat(ago(Duration.ofSeconds(99))).isEqualTo("99 s ago");
    assertThat(ago(Duration.ofSeconds(-100))).isEqualTo("in 1 min");
    assertThat(ago(Duration.ofMinutes(99))).isEqualTo("99 min ago");
    assertThat(ago(Duration.ofHours(47))).isEqualTo("47 h ago");
    assertThat(ago(Duration.ofHours(48))).isEqualTo("2 d ago");
    assertThat(Ago.text(NOW, null)).isEqualTo("-");
  }

  @Test
  void a_time_is_typed_as_a_span_before_now_or_as_itself() {
    When.Converter converter = new When.Converter();
    assertThat(converter.convert("2h").from(NOW)).isEqualTo("2026-03-01T10:00:00Z");
    assertThat(converter.convert("2026-03-01T13:00:00+01:00").from(NOW)).isEqualTo(NOW);
  }

  private static String ago(Duration since) {
    return Ago.text(NOW, NOW.minus(since));
  }

  private static String printed(Table table, Screen screen) {
    StringWriter out = new StringWriter();
    table.print(new PrintWriter(out), screen);
    return out.toString();
  }
}
