package dev.holdfast.engine.http;

/** What an attempt is on: a connection, or one that is being opened for it. */
interface Carrier {

  /** The attempt has ended. If it was still here, it has not ended well. */
  void leftBy(Sending ended);
}
