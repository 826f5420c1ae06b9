package dev.holdfast.server.api;

import dev.holdfast.server.api.Principal.Role;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Which keys a call takes. */
enum Access {
  /** No key needed. */
  OPEN,
  ANY_KEY,
  PUBLISH,
  LOOK,
  MANAGE,
  /** Decides who may do what. */
  ADMINISTER;

  boolean allows(Role role) {
    return switch (this) {
      case OPEN, ANY_KEY -> true;
      case PUBLISH -> role == Role.ADMIN || role == Role.PUBLISHER;
      case LOOK -> role != Role.PUBLISHER;
      case MANAGE -> role == Role.ADMIN || role == Role.OPERATOR;
      case ADMINISTER -> role == Role.ADMIN;
    };
  }

  /** The roles of keys that it takes, to be shown. */
  String roles() {
    return Arrays.stream(Role.values())
        .filter(this::allows)
        .map(Json::kebab)
        .collect(Collectors.joining(", "));
  }
}
