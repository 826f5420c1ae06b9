package dev.holdfast.proof.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.holdfast.proof.stage.Report.Point;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class PercentilesTest {
  @Test
  void nothing_counted_is_no_line() {
    assertThat(Percentiles.of(Control.histogram())).isEmpty();
  }

  @Test
  void a_single_value_is_a_single_point() {
    Histogram histogram = Control.histogram();
    histogram.recordValue(2_000_000);

    List<Point> points = Percentiles.of(histogram);

    assertThat(points).hasSize(1);
    assertThat(points.getFirst().x()).isZero();
    assertThat(points.getFirst().y()).isCloseTo(2, within(0.01));
  }

  @Test
  void the_line_goes_from_the_least_to_where_one_value_is_left_beyond() {
    Histogram histogram = Control.histogram();
    for (int millis = 1; millis <= 10_000; millis++) {
      histogram.recordValue(millis * 1_000_000L);
    }

    List<Point> points = Percentiles.of(histogram);

    assertThat(points.getFirst().y()).isCloseTo(1, within(0.01));
    assertThat(points.getLast().x()).isCloseTo(99.99, within(1e-9));
    for (Point point : points.subList(1, points.size())) {
      assertThat(point.y()).isCloseTo(point.x() * 100, Percentage.withPercentage(0.5));
    }
  }
}
