package dev.holdfast.server.api;

import dev.holdfast.server.api.Principal.Role;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Which keys a call takes. */
enum Access {
  /** No key needed. */
  OPEN,
  /** Sends events, which says nothing about what became of others. */
  PUBLISH,
  LOOK,
  /** Looks at what is about all tenants together. */
  LOOK_AT_SERVER,
  MANAGE,
  /** Decides who may do what. */
  ADMINISTER;

  boolean allows(Role role) {
    return switch (this) {
      case OPEN -> true;
      case PUBLISH -> role == Role.ADMIN || role == Role.PUBLISHER;
      case LOOK, LOOK_AT_SERVER -> role != Role.PUBLISHER;
      case MANAGE -> role == Role.ADMIN || role == Role.OPERATOR;
      case ADMINISTER -> role == Role.ADMIN;
    };
  }

  /** Whether only keys for all tenants will do. */
  boolean isWide() {
    return this == LOOK_AT_SERVER;
  }

  /** The roles of keys that it takes, to be shown. */
  String roles() {
    return Arrays.stream(Role.values())
        .filter(this::allows)
        .map(Json::kebab)
        .collect(Collectors.joining(", "));
  }
}
