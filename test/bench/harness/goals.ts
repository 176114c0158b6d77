// The usual goals of benches, so that each is said in the same words and judged in the same way. Pure.
// A figure that was not measured never meets a goal.
import type { Figure, Goal, Summary } from './bench.ts'

function shown(value: number): string {
  return Number.isFinite(value) ? value.toPrecision(3) : 'not measured'
}

/** Ours ÷ peer of a figure where more is better. */
export function ratioAtLeast(figure: string, least: number): Goal<Summary> {
  return {
    text: `${figure}: ours ÷ peer ≥ ${least}`,
    judge({ figures }) {
      const value = figures[figure]?.ratio.median ?? Number.NaN
      return { met: value >= least, value: shown(value) }
    },
  }
}

/** Ours ÷ peer of a figure where less is better. */
export function ratioAtMost(figure: string, most: number): Goal<Summary> {
  return {
    text: `${figure}: ours ÷ peer ≤ ${most}`,
    judge({ figures }) {
      const value = figures[figure]?.ratio.median ?? Number.NaN
      return { met: value <= most, value: shown(value) }
    },
  }
}

export function oursAtLeast(figure: string, least: number): Goal<Summary> {
  return {
    text: `${figure}: ours ≥ ${least.toLocaleString('en-US')}`,
    judge({ figures }) {
      const value = figures[figure]?.ours ?? Number.NaN
      return { met: value >= least, value: shown(value) }
    },
  }
}

export function oursAtMost(figure: string, most: number): Goal<Summary> {
  return {
    text: `${figure}: ours ≤ ${most.toLocaleString('en-US')}`,
    judge({ figures }) {
      const value = figures[figure]?.ours ?? Number.NaN
      return { met: value <= most, value: shown(value) }
    },
  }
}

/** Met by any one of them. */
export function anyOf(goals: readonly Goal<Summary>[]): Goal<Summary> {
  return {
    text: goals.map(goal => goal.text).join(', or '),
    judge(summary) {
      const verdicts = goals.map(goal => goal.judge(summary))
      return { met: verdicts.some(verdict => verdict.met), value: verdicts.map(verdict => verdict.value).join('; ') }
    },
  }
}

/** Met by all of them together. */
export function allOf(goals: readonly Goal<Summary>[]): Goal<Summary> {
  return {
    text: goals.map(goal => goal.text).join(' and '),
    judge(summary) {
      const verdicts = goals.map(goal => goal.judge(summary))
      return { met: verdicts.every(verdict => verdict.met), value: verdicts.map(verdict => verdict.value).join('; ') }
    },
  }
}

/** For measurements without a peer. */
export function figureAtMost(label: string, most: number): Goal<readonly Figure[]> {
  return {
    text: `${label} ≤ ${most.toLocaleString('en-US')}`,
    judge(figures) {
      const value = figures.find(figure => figure.label === label)?.value ?? Number.NaN
      return { met: value <= most, value: shown(value) }
    },
  }
}
