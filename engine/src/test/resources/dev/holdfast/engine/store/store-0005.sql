-- What a program of the fifth version wrote: see OlderStoreTest.

INSERT INTO progress (id, commits, at, sum) VALUES
  (0, 12, 1772366402123456, 3370896221);

INSERT INTO events (id, tenant, type, subject, occurred_at, caller_id, traceparent, messages, sum,
    body_sum, data, previous) VALUES
  (153833649463104519, 'default', 'order.paid', 'order-1', NULL, 'id-1', NULL, 5, 2416225243, 3510709530, x'7b7d', NULL),
  (153833649463110663, 'default', 'order.paid', 'order-1', NULL, NULL, NULL, 2, 3279643132, 4177696632, x'7b226e223a317d', NULL);

INSERT INTO keys (tenant, caller_id, event, content, sum) VALUES
  ('default', 'id-1', 153833649463104519, x'c1fa648b743abecf55f34e65da7384396cda81f977a38bca09b6574e3f74404e', 2482125764);

INSERT INTO open (id, event, subscription, endpoint, status, attempts, slot, base, due, not_before,
    last_attempt_at, size, sum) VALUES
  (153833649463105543, 153833649463104519, 153833649463099400, 153833649463099399, 0, 0, 0, NULL, NULL, NULL, NULL, 258, 1881394897),
  (153833649463106567, 153833649463104519, 153833649463099400, 153833649463099399, 1, 1, 1, 1772366400123456, 1772366460123456, NULL, 1772366400124456, 258, 4272981947),
  (153833649463109639, 153833649463104519, 153833649463099400, 153833649463099399, 2, 0, 0, 1772366400123456, 1772370000123456, NULL, NULL, 258, 2935603823),
  (153833649463114759, 153833649463104519, 153833649463102471, 153833649463100423, 0, 0, 0, NULL, NULL, NULL, NULL, 100, 653551987);

INSERT INTO messages (id, event, subscription, endpoint, reason, finished_at, attempts, sum,
    attempt_sum, attempt_at, duration_millis, scheduled, http_status, error, retry_after, response)
    VALUES
  (153833649463107591, 153833649463104519, 153833649463100424, 153833649463100423, NULL, 1772366401123456, 1, 1358895018, 284405083, 1772366400124456, 42, 1, 204, NULL, NULL, x'7468616e6b73'),
  (153833649463108615, 153833649463104519, 153833649463100424, 153833649463100423, 'EXHAUSTED', 1772366402123456, 1, 2632154468, 4107851146, 1772366400124456, 42, 1, 503, 'STATUS', '120', x'6e6f');

INSERT INTO attempts (message, number, attempt_at, duration_millis, scheduled, http_status, error,
    retry_after, response, sum) VALUES
  (153833649463106567, 1, 1772366400124456, 42, 1, 503, 'STATUS', '120', x'6e6f', 2091119264);

INSERT INTO endpoints (id, tenant, url, created_at, state, since, reason, successes, failures,
    previous_attempts, previous_failures, current_attempts, current_failures, consecutive_failures,
    last_success_at, next_probe_at, sum, rate_limit, gone_at) VALUES
  (153833649463099399, 'default', 'https://one.example/', 1772366400123456, 'ENABLED', 1772366400123456, 'CREATED', 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 4097159987, 2.5, 1772366405123456),
  (153833649463100423, 'default', 'https://two.example/', 1772366400123456, 'ENABLED', 1772366400123456, 'CREATED', 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 3488749043, NULL, NULL);

INSERT INTO endpoint_changes (id, endpoint, at, state, reason, sum) VALUES
  (1, 153833649463099399, 1772366400123456, 'ENABLED', 'CREATED', 3257734738);

INSERT INTO subscriptions (id, tenant, endpoint, types, subject, created_at, ended_at, sum, paused,
    unsettled, connector, filters, format, base64, auth_token, headers, secrets) VALUES
  (153833649463101447, 'default', 153833649463099399, 'order.*
b', NULL, 1772366400123456, NULL, 689208914, 0, '', 'AND', '[]', 'HOLDFAST', 0, NULL, '', ''),
  (153833649463102471, 'default', 153833649463100423, 'TASK.UPDATE', 'task-1', 1772366400123456, NULL, 2320305121, 1, '153833649463099399', 'OR', '[{"fieldName":"status","fieldValue":"done","comparison":"eq","state":"newState"}]', 'WORKFRONT', 1, 'token', 'X-One: 1
X-Two: 2', '1772366402123456  whsec_new
1772366400123456 1772366403123456 old'),
  (153833649463103495, 'default', 153833649463100423, 'c', NULL, 1772366400123456, 1772366401123456, 2770266295, 0, '', 'AND', '[]', 'HOLDFAST', 0, NULL, '', '');

INSERT INTO api_keys (id, name, role, tenant, hash, created_at, sum) VALUES
  (153833649463099392, 'first', 'ADMIN', NULL, x'0000000000000000000000000000000000000000000000000000000000000000', 1772366400123456, 443774679);

DELETE FROM indexed;

INSERT INTO indexed (id, through, part, rows, sum) VALUES
  (0, 153833649463107591, 1, 1, 626542986);

INSERT INTO finished_by_tenant (part, tenant, dropped, id) VALUES
  (1, 'default', 0, 153833649463107591);

INSERT INTO finished_by_endpoint (part, endpoint, dropped, id) VALUES
  (1, 153833649463100423, 0, 153833649463107591);

INSERT INTO finished_by_subscription (part, subscription, dropped, id) VALUES
  (1, 153833649463100424, 0, 153833649463107591);

INSERT INTO fan_outs (event, first, event_size, targets, sum) VALUES
  (153833649463110663, 0, 263, x'022286e39ec00807022286e39ec00007022286e39ec00c07022286e39ec00407', 3582625073);

INSERT INTO replays (id, tenant, endpoint, subscription, endings, since, until, again, state, total,
    done, skipped, through, sum, below) VALUES
  (153833649463113735, 'default', 153833649463100423, NULL, 'DELIVERED', NULL, NULL, 1, 'RUNNING', 1, 0, 0, 0, 3204470964, 153833649463113735);

INSERT INTO replayed (event, original, message, sum) VALUES
  (153833649463104519, 153833649463107591, 153833649463114759, 3572537145);

INSERT INTO tenants (tenant, events, bytes, sum) VALUES
  ('default', 2, 521, 3715624600);
