"""Components of Vue and Svelte run by the project's own compiler; lines are told as the file's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.inside.driver.javascript.job import run

VUE, SVELTE = "vue@3.5.24", "svelte@5.43.14"
SETUP = """\
<script setup lang="ts">
import { computed, ref } from "vue";
import type { Price } from "./types";
import { total } from "./sums";

const props = defineProps<{ name: string; prices: Price[] }>();
const count = ref<number>(2);
const shown = computed(() => total(count.value));
async function save(event: Event) {
  count.value += 1;
  console.log("saved", props.name);
}
function never(): number {
  if (count.value < -5) {
    return 99;
  }
  return 1;
}
</script>

<template>
  <p @click="save">{{ shown }} {{ name }}</p>
</template>

<style>
p { color: red }
</style>
"""
OPTIONS = """\
<template>
  <b>{{ label }}</b>
</template>

<script>
import Part from "./Part.vue";

export default {
  components: { Part },
  props: { start: { type: Number, default: 1 } },
  data() {
    return { count: this.start };
  },
  computed: {
    label() {
      return `n ${this.count}`;
    },
  },
  mounted() {
    this.count = 5;
  },
  methods: {
    more() {
      this.count += 1;
      this.$emit("more", this.count);
    },
  },
};
</script>
"""
RUNES = """\
<script lang="ts">
  let { name = "x" }: { name?: string } = $props();
  const told: string = name.toUpperCase();
  function twice(n: number) {
    return n * 2;
  }
</script>

<p>{told} {twice(2)}</p>
"""
FILES = {
    "src/sums.ts": "export const total = (n: number): number => n * 3;\n",
    "src/types.ts": "export interface Price { cents: number }\n",
    "src/Part.vue": "<template><i>part</i></template>\n",
}


@pytest.mark.parametrize(
    ("name", "text", "ran", "dark"),
    [
        ("Setup.vue", SETUP, {7, 8, 10, 11, 14, 17}, {15}),
        ("Options.vue", OPTIONS, {12, 16, 20, 24, 25}, set()),
    ],
)
@pytest.mark.parametrize("page", [(), ("happy-dom@20.0.11",)], ids=["text", "page"])
def test_vue(
    tmp_path: Path, name: str, text: str, ran: set[int], dark: set[int], page: tuple[str, ...]
) -> None:
    done = run(tmp_path, {**FILES, f"src/{name}": text}, f"src/{name}", VUE, *page)
    assert done.report["outcome"] == "completed", done.report
    assert ran <= done.lines, sorted(done.lines)
    assert dark.isdisjoint(done.lines)


def test_vue_with_the_types_taken_away_by_a_compiler(tmp_path: Path) -> None:
    packages = (VUE, "typescript@5.9.3")
    done = run(tmp_path, {**FILES, "src/Setup.vue": SETUP}, "src/Setup.vue", *packages)
    assert {7, 8, 10, 11, 14, 17} <= done.lines, (sorted(done.lines), done.report)
    assert 15 not in done.lines


def test_svelte(tmp_path: Path) -> None:
    done = run(tmp_path, {"src/A.svelte": RUNES}, "src/A.svelte", SVELTE)
    assert done.report["outcome"] == "completed", done.report
    assert {3, 5} <= done.lines, sorted(done.lines)


def test_a_component_without_a_compiler_is_not_run(tmp_path: Path) -> None:
    done = run(tmp_path, {"src/Part.vue": FILES["src/Part.vue"]}, "src/Part.vue")
    assert done.report["outcome"] == "exception"
    assert "vue or svelte" in str(done.report["message"])


def test_a_script_imports_a_component(tmp_path: Path) -> None:
    files = {
        **FILES,
        "src/main.js": 'import Part from "./Part.vue";\nexport const has = () => Part.render;\n',
    }
    done = run(tmp_path, files, "src/main.js", VUE)
    assert done.calls == [("has", "returned")], done.report
