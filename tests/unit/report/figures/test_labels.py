"""Names of points and words beside lines: they cover nothing."""

from xlingual.report.figures import labels


def test_names_cover_neither_points_nor_each_other():
    spots = [(100 + 7 * (i % 6), 100 + 9 * (i // 6)) for i in range(24)] + [(300, 60)]
    names = [f"encoder_{i}" for i in range(24)] + ["far"]
    frame = (0.0, 0.0, 400.0, 300.0)
    found = labels.placed(spots, names, frame)
    boxes = []
    for label in found:
        width = labels.width_of(label.text)
        left = label.x - {"start": 0, "middle": width / 2, "end": width}[label.anchor]
        boxes.append((left, label.y - 8, left + width, label.y + 1))
    for i, box in enumerate(boxes):
        assert box[0] >= 0 and box[2] <= 400 and box[1] >= 0 and box[3] <= 300
        assert not any(box[0] < x < box[2] and box[1] < y < box[3] for x, y in spots)
        for other in boxes[:i]:
            assert not (box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3])
    assert "far" in {label.text for label in found} and len(found) >= 10
    assert len(labels.shortened("x" * 60)) == labels.MOST_LETTERS


def test_words_beside_a_line_cover_nothing_and_are_left_out_where_they_would():
    frame = (0.0, 0.0, 300.0, 200.0)
    free = labels.on_line("chance 0", 100.0, frame, [])
    assert (free.anchor, free.y) == ("end", 96.0) and free.x == 297.0
    points = [labels.around((x, 98.0)) for x in (200.0, 250.0, 290.0)]
    moved = labels.on_line("chance 0", 100.0, frame, points)
    left, top, right, bottom = labels.box_of(moved)
    assert moved.x < free.x
    assert all(right <= box[0] or left >= box[2] or bottom <= box[1] or top >= box[3] for box in points)
    above = (0.0, 0.0, 300.0, 99.0)
    assert labels.on_line("chance 0", 100.0, frame, [above]).y > 100
    assert labels.on_line("chance 0", 100.0, frame, [frame]) is None
