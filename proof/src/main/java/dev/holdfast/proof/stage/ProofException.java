package dev.holdfast.proof.stage;

/** It cannot go on; the message is for the person who started it. */
public final class ProofException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ProofException(String message) {
    super(message);
  }

  public ProofException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }
}
