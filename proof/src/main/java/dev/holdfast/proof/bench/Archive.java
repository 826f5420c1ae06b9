package dev.holdfast.proof.bench;

import java.io.IOException;
import java.util.List;
import java.util.OptionalLong;

/**
 * A store with very many finished messages and subscriptions for more, and empty ones beside it.
 */
interface Archive {

  /** What one calls such a store. */
  String word();

  Place full();

  /** One with the same subscriptions and no messages. */
  Place newEmpty() throws IOException;

  /** Removes one that is needed no longer; no server runs on it. */
  void drop(Place place);

  /** What servers are told, each a key and a value. */
  List<String> settings();

  /** The size of the full one. */
  double megabytes();

  /** How many events are in the full one now, if some are removed while it is measured. */
  OptionalLong events();
}
