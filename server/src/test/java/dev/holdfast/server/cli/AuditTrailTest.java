package dev.holdfast.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.cli.AuditTrail.Head;
import dev.holdfast.server.cli.AuditTrail.Problem;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AuditTrailTest {
  /** An entry as the API gives it. */
  private record Given(String chain, String text, String previous, String hash) {}

  /** From the last to the first. */
  private final List<Given> log = new ArrayList<>();

  @BeforeEach
  void write() throws Exception {
    String previous = "0".repeat(64);
    for (int number = 1; number <= 5; number++) {
      Given entry = entry("acme", number, previous);
      log.addFirst(entry);
      previous = entry.hash();
    }
    log.addFirst(entry("", 1, "0".repeat(64)));
  }

  private static Given entry(String chain, int number, String previous) throws Exception {
    String text = "{\"chain\":\"%s\",\"number\":%d,\"é\":1.50}".formatted(chain, number);
    MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
    sha256.update(HexFormat.of().parseHex(previous));
    byte[] hash = sha256.digest(text.getBytes(StandardCharsets.UTF_8));
    return new Given(chain, text, previous, HexFormat.of().formatHex(hash));
  }

  private AuditTrail follow(Head... kept) {
    AuditTrail trail = new AuditTrail(List.of(kept));
    log.forEach(given -> trail.add(given.chain(), given.text(), given.previous(), given.hash()));
    return trail;
  }

  private Given acme(int number) {
    return log.stream().filter(given -> given.chain().equals("acme")).toList().get(5 - number);
  }

  private void replace(Given old, Given by) {
    Collections.replaceAll(log, old, by);
  }

  @Test
  void what_was_not_changed_is_right_and_its_heads_are_known() {
    AuditTrail trail = follow();
    assertThat(trail.problems()).isEmpty();
    assertThat(trail.entries()).isEqualTo(6);
    assertThat(trail.heads())
        .containsExactly(
            new Head("", 1, log.getFirst().hash()), new Head("acme", 5, acme(5).hash()));
  }

  @Test
  void a_changed_entry_is_named() {
    Given old = acme(3);
    replace(old, new Given("acme", old.text().replace("1.50", "1.5"), old.previous(), old.hash()));
    assertThat(follow().problems()).containsExactly(new Problem("acme", 3, "was changed"));
  }

  @Test
  void the_first_of_several_is_named() throws Exception {
    replace(acme(4), new Given("acme", "{\"chain\":\"acme\",\"number\":4}", "", "x"));
    replace(acme(2), new Given("acme", "{\"chain\":\"acme\",\"number\":2}", "", "x"));
    assertThat(follow().problems()).containsExactly(new Problem("acme", 2, "was changed"));
  }

  @Test
  void an_entry_that_was_changed_with_its_hash_does_not_fit_the_next() throws Exception {
    Given old = acme(3);
    Given other = entry("acme", 3, "11".repeat(32));
    replace(old, new Given("acme", other.text(), other.previous(), other.hash()));
    assertThat(follow().problems())
        .containsExactly(new Problem("acme", 3, "does not follow the one before it"));
  }

  @Test
  void a_removed_entry_is_named() {
    log.remove(acme(3));
    assertThat(follow().problems()).containsExactly(new Problem("acme", 3, "is missing"));
  }

  @Test
  void a_removed_beginning_is_named() {
    log.remove(acme(1));
    assertThat(follow().problems()).containsExactly(new Problem("acme", 1, "is missing"));
  }

  @Test
  void swapped_entries_are_named() {
    int three = log.indexOf(acme(3));
    int two = log.indexOf(acme(2));
    Collections.swap(log, three, two);
    assertThat(follow().problems())
        .hasSize(1)
        .first()
        .matches(problem -> problem.chain().equals("acme") && problem.number() <= 3);
  }

  @Test
  void an_inserted_entry_is_named() throws Exception {
    log.add(log.indexOf(acme(3)), entry("acme", 3, acme(2).hash()));
    assertThat(follow().problems()).containsExactly(new Problem("acme", 3, "is not in its place"));
  }

  @Test
  void an_entry_of_another_chain_is_named() {
    Given old = acme(5);
    log.removeIf(given -> given.chain().isEmpty());
    log.addFirst(new Given("", old.text(), old.previous(), old.hash()));
    assertThat(follow().problems()).extracting(Problem::chain).containsExactly("");
  }

  @Test
  void a_cut_off_end_is_found_by_a_head_that_was_kept() {
    Head kept = new Head("acme", 5, acme(5).hash());
    assertThat(follow(kept).problems()).isEmpty();
    log.remove(acme(5));
    assertThat(follow().problems()).isEmpty();
    assertThat(follow(kept).problems())
        .containsExactly(
            new Problem("acme", 5, "was kept and is missing: the end of the chain was cut off"));
  }

  @Test
  void a_chain_that_was_written_anew_is_found_by_a_head_that_was_kept() throws Exception {
    Head kept = new Head("", 1, "22".repeat(32));
    assertThat(follow(kept).problems())
        .containsExactly(new Problem("", 1, "is not the one that was kept"));
  }

  @Test
  void a_head_is_read_as_it_was_printed() {
    Head head = new Head("acme", 12, "0f".repeat(32));
    assertThat(Head.parse(head.toString())).contains(head);
    assertThat(Head.parse(":1:" + "0f".repeat(32))).contains(new Head("", 1, "0f".repeat(32)));
    assertThat(Head.parse("acme:0:" + "0f".repeat(32))).isEmpty();
    assertThat(Head.parse("acme:12")).isEmpty();
  }

  @Test
  void entries_are_taken_out_of_an_answer_just_as_they_came() throws Exception {
    Given given = acme(2);
    List<Given> read = new ArrayList<>();
    String next =
        AuditPages.page(
            "{\"items\":[{\"hash\":\"%s\",\"previous\":\"%s\",\"chain\":\"acme\",\"entry\":%s}, {}],\"next\":\"more\"}"
                .formatted(given.hash(), given.previous(), given.text()),
            (chain, entry, previous, hash) -> read.add(new Given(chain, entry, previous, hash)));
    assertThat(next).isEqualTo("more");
    assertThat(read.getFirst()).isEqualTo(given);
  }
}
