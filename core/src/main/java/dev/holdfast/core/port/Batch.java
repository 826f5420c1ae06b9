package dev.holdfast.core.port;

import dev.holdfast.core.model.Endpoint;
import java.util.List;

/**
 * What is kept by one transaction and one fsync, in this order.
 *
 * @param endpoints each endpoint whose health or settings have changed, once, as it is after all
 *     writes
 */
public record Batch(List<Write> writes, List<Endpoint> endpoints) {}
