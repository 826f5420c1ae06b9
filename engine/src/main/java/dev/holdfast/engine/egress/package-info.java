/**
 * Where requests may go.
 *
 * <p>Strangers choose the addresses. {@link dev.holdfast.engine.egress.EndpointUrl} takes a URL
 * apart and refuses what one could be deceived with; {@link dev.holdfast.engine.egress.EgressRules}
 * says which ports and addresses may be reached. Both are asked when a subscription is made, and
 * again whenever a connection is opened.
 */
@NullMarked
package dev.holdfast.engine.egress;

import org.jspecify.annotations.NullMarked;
