package dev.holdfast.proof.model;

import dev.holdfast.core.model.Form.Version;
import dev.holdfast.core.model.TypePattern;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What somebody wants to be different about a subscription; what is absent stays.
 *
 * @param url normalised
 */
public record SubscriptionChange(
    @Nullable String url,
    @Nullable List<TypePattern> types,
    @Nullable Boolean paused,
    @Nullable Version version) {}
