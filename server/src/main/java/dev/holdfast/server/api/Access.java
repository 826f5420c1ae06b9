package dev.holdfast.server.api;

import dev.holdfast.server.api.Principal.Role;
import java.util.EnumSet;
import java.util.Set;

/** Which keys a call takes. */
enum Access {
  /** No key needed. */
  OPEN(EnumSet.noneOf(Role.class)),
  ANY_KEY(EnumSet.allOf(Role.class)),
  PUBLISH(EnumSet.of(Role.ADMIN, Role.PUBLISHER)),
  LOOK(EnumSet.of(Role.ADMIN, Role.OPERATOR, Role.VIEWER)),
  MANAGE(EnumSet.of(Role.ADMIN, Role.OPERATOR));

  final Set<Role> roles;

  Access(Set<Role> roles) {
    this.roles = roles;
  }
}
