// The common goals of benches, so that all are worded and evaluated in the same way. Pure.
// A figure that was not measured never meets a goal.
import type { Figure, Goal, Summary } from './bench.ts'

function shown(value: number): string {
  return Number.isFinite(value) ? value.toPrecision(3) : 'not measured'
}

/** Ours ÷ peer, for a figure where more is better. */
export function ratioAtLeast(figure: string, least: number): Goal<Summary> {
  return {
    text: `${figure}: ours ÷ peer ≥ ${least}`,
    evaluate({ figures }) {
      const value = figures[figure]?.ratio.median ?? Number.NaN
      return { met: value >= least, value: shown(value) }
    },
  }
}

/** Ours ÷ peer, for a figure where less is better. */
export function ratioAtMost(figure: string, most: number): Goal<Summary> {
  return {
    text: `${figure}: ours ÷ peer ≤ ${most}`,
    evaluate({ figures }) {
      const value = figures[figure]?.ratio.median ?? Number.NaN
      return { met: value <= most, value: shown(value) }
    },
  }
}

export function oursAtLeast(figure: string, least: number): Goal<Summary> {
  return {
    text: `${figure}: ours ≥ ${least.toLocaleString('en-US')}`,
    evaluate({ figures }) {
      const value = figures[figure]?.ours ?? Number.NaN
      return { met: value >= least, value: shown(value) }
    },
  }
}

export function oursAtMost(figure: string, most: number): Goal<Summary> {
  return {
    text: `${figure}: ours ≤ ${most.toLocaleString('en-US')}`,
    evaluate({ figures }) {
      const value = figures[figure]?.ours ?? Number.NaN
      return { met: value <= most, value: shown(value) }
    },
  }
}

/** Ours − peer: what ours costs in addition to the peer, which is a part of it. */
export function oursAbovePeerAtMost(figure: string, most: number): Goal<Summary> {
  return {
    text: `${figure}: ours − peer ≤ ${most.toLocaleString('en-US')}`,
    evaluate({ figures }) {
      const { ours = Number.NaN, peer = Number.NaN } = figures[figure] ?? {}
      return { met: ours - peer <= most, value: shown(ours - peer) }
    },
  }
}

/** Met by any one of them. */
export function anyOf(goals: readonly Goal<Summary>[]): Goal<Summary> {
  return {
    text: goals.map(goal => goal.text).join(', or '),
    evaluate(summary) {
      const results = goals.map(goal => goal.evaluate(summary))
      return { met: results.some(result => result.met), value: results.map(result => result.value).join('; ') }
    },
  }
}

/** Met by all of them together. */
export function allOf(goals: readonly Goal<Summary>[]): Goal<Summary> {
  return {
    text: goals.map(goal => goal.text).join(' and '),
    evaluate(summary) {
      const results = goals.map(goal => goal.evaluate(summary))
      return { met: results.every(result => result.met), value: results.map(result => result.value).join('; ') }
    },
  }
}

/** For measurements without a peer. */
export function figureAtMost(label: string, most: number): Goal<readonly Figure[]> {
  return {
    text: `${label} ≤ ${most.toLocaleString('en-US')}`,
    evaluate(figures) {
      const value = figures.find(figure => figure.label === label)?.value ?? Number.NaN
      return { met: value <= most, value: shown(value) }
    },
  }
}

export function figureAtLeast(label: string, least: number): Goal<readonly Figure[]> {
  return {
    text: `${label} ≥ ${least.toLocaleString('en-US')}`,
    evaluate(figures) {
      const value = figures.find(figure => figure.label === label)?.value ?? Number.NaN
      return { met: value >= least, value: shown(value) }
    },
  }
}
