package dev.holdfast.core.path;

/** Decides. */
public final class Loop {}
