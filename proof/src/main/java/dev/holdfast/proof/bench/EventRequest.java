package dev.holdfast.proof.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.holdfast.proof.bench.LoadPlan.Setting;
import io.vertx.core.buffer.Buffer;
import java.util.SplittableRandom;

/**
 * The bytes of one HTTP request with its events, made once and stamped anew each time it is sent.
 */
final class EventRequest {
  private static final int TYPE_DIGITS = 5;

  /** Of a caller-given id, in hexadecimal digits. */
  private static final int ID_LENGTH = 32;

  private final int events;
  private final int endpoints;
  private final int firstEndpoint;
  private final Buffer bytes;
  private final int[] typeOffsets;
  private final int[] markOffsets;
  private final int[] idOffsets;
  private final SplittableRandom random = new SplittableRandom();
  private final byte[] id = new byte[ID_LENGTH];
  private final byte[] mark = new byte[Mark.LENGTH];
  private final byte[] digits = new byte[TYPE_DIGITS];
  private int firstNumber;
  private long sentAtNanos;

  EventRequest(LoadPlan plan) {
    this.events = plan.get(Setting.BATCH);
    this.endpoints = plan.get(Setting.ENDPOINTS);
    this.firstEndpoint = plan.get(Setting.FIRST_ENDPOINT);
    this.typeOffsets = new int[events];
    this.markOffsets = new int[events];

    String data = Mark.data(plan.get(Setting.DATA_BYTES));
    boolean callerIds = plan.get(Setting.CALLER_IDS) > 0;
    this.idOffsets = new int[callerIds ? events : 0];
    String idStart = callerIds ? "{\"id\":\"" : "{";
    String typeStart =
        (callerIds ? "0".repeat(ID_LENGTH) + "\"," : "") + "\"type\":\"" + LoadPlan.type(0);
    String dataStart = "\",\"data\":";
    StringBuilder body = new StringBuilder(events == 1 ? "" : "{\"events\":[");
    for (int i = 0; i < events; i++) {
      body.append(i == 0 ? "" : ",").append(idStart);
      if (callerIds) {
        idOffsets[i] = body.length();
      }
      body.append(typeStart);
      typeOffsets[i] = body.length() - LoadPlan.TYPE_END.length() - TYPE_DIGITS;
      body.append(dataStart);
      markOffsets[i] = body.length() + Mark.offset();
      body.append(data).append('}');
    }
    body.append(events == 1 ? "" : "]}");

    String head =
        "POST %s HTTP/1.1\r\n".formatted(events == 1 ? "/v1/events" : "/v1/events/batch")
            + "Host: %s:%d\r\n".formatted(Control.LOCALHOST, plan.get(Setting.PORT))
            + "Authorization: Bearer %s\r\n".formatted(plan.key())
            + "Content-Type: application/json\r\n"
            + "Content-Length: %d\r\n\r\n".formatted(body.length());
    for (int i = 0; i < events; i++) {
      typeOffsets[i] += head.length();
      markOffsets[i] += head.length();
    }
    for (int i = 0; i < idOffsets.length; i++) {
      idOffsets[i] += head.length();
    }
    this.bytes = Buffer.buffer((head + body).getBytes(US_ASCII));
  }

  int events() {
    return events;
  }

  int firstNumber() {
    return firstNumber;
  }

  long sentAtNanos() {
    return sentAtNanos;
  }

  /** The request with events numbered from {@code first}, valid until the next call. */
  Buffer stamped(int first, long sentAt) {
    this.firstNumber = first;
    this.sentAtNanos = sentAt;
    for (int i = 0; i < events; i++) {
      int number = first + i;
      Mark.write(mark, 0, sentAt, number);
      bytes.setBytes(markOffsets[i], mark);
      int rest = firstEndpoint + number % endpoints;
      for (int d = TYPE_DIGITS - 1; d >= 0; d--) {
        digits[d] = (byte) ('0' + rest % 10);
        rest /= 10;
      }
      bytes.setBytes(typeOffsets[i], digits);
      if (i < idOffsets.length) {
        bytes.setBytes(idOffsets[i], randomId());
      }
    }
    return bytes;
  }

  private byte[] randomId() {
    Mark.hex(id, 0, random.nextLong(), ID_LENGTH / 2);
    Mark.hex(id, ID_LENGTH / 2, random.nextLong(), ID_LENGTH / 2);
    return id;
  }
}
