package dev.holdfast.server.api;

import dev.holdfast.core.model.Actor;
import dev.holdfast.core.model.Id;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.ApiKeys;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** The keys that open a server: knows whose they are, makes them and revokes them. */
public interface Keyring extends Authenticator {
  /** What the ids of keys begin with. */
  String ID_PREFIX = ApiKeys.ID_PREFIX;

  /**
   * A key as people see it.
   *
   * @param tenant the only tenant that it may act for; all when absent
   * @param expiresAt from when on it opens nothing; never when absent
   * @param lastUsedAt when it was last sent with a request; never when absent
   */
  record Key(
      long id,
      String name,
      Principal.Role role,
      @Nullable String tenant,
      Instant createdAt,
      @Nullable Instant expiresAt,
      @Nullable Instant lastUsedAt) {

    /** As the interface shows it. */
    public String json() {
      return Keyring.text(out -> write(out, this, null));
    }
  }

  /**
   * A key that was just made.
   *
   * @param text what its holder sends; nobody can find it out later
   */
  record Created(Key key, String text) {

    /** As the interface shows it, this once. */
    public String json() {
      return Keyring.text(out -> write(out, key, text));
    }

    @Override
    public String toString() {
      return "Created[" + key + "]";
    }
  }

  /** How a wish to revoke a key ended. */
  enum Revoked {
    DONE,
    NOT_FOUND,
    /** Without it nobody could manage all tenants any more. */
    IS_LAST_ADMIN
  }

  /** Every stored key, the newest first. Answers from memory. */
  List<Key> all();

  /**
   * Makes and stores a key, which opens the server at once. Blocking.
   *
   * @param name a name is made up when absent
   * @param expiresAt from when on it opens nothing; never when absent
   * @param by who wants it
   * @throws StoreException when it cannot be stored
   */
  Created create(
      @Nullable String name,
      Principal.Role role,
      @Nullable String tenant,
      @Nullable Instant expiresAt,
      Actor by)
      throws StoreException;

  /**
   * Forgets a key, which from then on opens nothing. Blocking.
   *
   * @param only the tenant that the key must belong to; any when absent
   * @param by who wants that
   */
  Revoked revoke(@Nullable String only, long id, Actor by) throws StoreException;

  private static String text(Consumer<JsonGenerator> content) {
    return Json.write(content).toString(StandardCharsets.UTF_8);
  }

  private static void write(JsonGenerator out, Key key, @Nullable String text) {
    out.writeStartObject();
    Json.id(out, "id", ID_PREFIX, key.id());
    out.writeStringProperty("name", key.name());
    Json.constant(out, "role", key.role());
    Json.text(out, "tenant", key.tenant());
    Json.time(out, "createdAt", key.createdAt());
    Json.time(out, "expiresAt", key.expiresAt());
    Json.time(out, "lastUsedAt", key.lastUsedAt());
    if (text != null) {
      out.writeStringProperty("key", text);
    }
    out.writeEndObject();
  }

  /** The id as people see it. */
  static String idText(long id) {
    return Id.text(ID_PREFIX, id);
  }
}
