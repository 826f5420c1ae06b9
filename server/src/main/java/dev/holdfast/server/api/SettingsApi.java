package dev.holdfast.server.api;

import java.util.List;
import java.util.Set;
import tools.jackson.core.JsonGenerator;

/** Shows the settings that this server runs with. */
final class SettingsApi {
  private final List<SettingInUse> settings;

  SettingsApi(List<SettingInUse> settings) {
    this.settings = settings;
  }

  List<Route> routes() {
    return List.of(Route.get("/v1/settings", Access.LOOK_AT_SERVER, Set.of(), this::list));
  }

  private void list(Exchange exchange, byte[] body) {
    exchange.answerItems(settings.size(), () -> Json.list(settings, SettingsApi::write, null));
  }

  private static void write(JsonGenerator out, SettingInUse setting) {
    out.writeStartObject();
    out.writeStringProperty("name", setting.name());
    out.writeStringProperty("value", setting.value());
    out.writeStringProperty("default", setting.defaultValue());
    Json.constant(out, "from", setting.from());
    out.writeStringProperty("about", setting.about());
    out.writeEndObject();
  }
}
