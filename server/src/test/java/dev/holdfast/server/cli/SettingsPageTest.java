package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class SettingsPageTest {

  @Test
  void the_page_about_settings_says_what_the_program_does() throws Exception {
    assertThat(Files.readString(Path.of("../docs/settings.md")))
        .as(
            "docs/settings.md is not true any more. ./holdfast settings --markdown > docs/settings.md")
        .isEqualTo(PrintSettings.page());
  }

  @Test
  void every_setting_is_on_it() {
    Typed typed = new Typed();
    assertThat(typed.run("settings", "--markdown")).isZero();
    assertThat(typed.out).isEqualTo(PrintSettings.page());
    assertThat(Settings.catalogue())
        .allSatisfy(setting -> assertThat(typed.out).contains("| `" + setting.key() + "` | "));
  }
}
