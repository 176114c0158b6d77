// Bench `installations`: what accounts with an Installation and three grants cost of GitHub's limits in an hour in which nothing
// happens, for two numbers of accounts. GitHub is the emulator, which enforces its limits by the same clock.
import { findPostgres, cure as postgresCure } from '../../../dev/postgres/find-postgres.ts'
import type { Bench, Figure, Measurement, OpenBench } from '../harness/bench.ts'
import { figureAtLeast, figureAtMost } from '../harness/goals.ts'
import { grantsOfAccount } from './accounts.ts'
import { checkedSince, type Hour, notReady, oneHour } from './one-hour.ts'
import { openWorld, type World } from './world.ts'

/** GitHub's, of an App and of each installation. */
const limitOfHour = 5000
const hourSeconds = 3600

/**
 * The rate of the clock is what the client of GitHub allows, which makes at most one token in a second of time: an hour of 100
 * accounts needs some 125, one of 2,000 some 800.
 */
const short = { few: 20, many: 100, rate: 18 }
const long = { few: 20, many: 2000, rate: 4 }

const labels = {
  ofApp: 'requests as the App that GitHub counts, share of its limit',
  ofOne: 'requests with tokens of one installation, most, share of its limit',
  owners: 'owners checked',
  grants: 'grants checked',
  refused: 'requests that GitHub refused by its limits',
  lost: 'Installations and grants that are not ready afterwards',
} as const

function figuresOf(hour: Hour, hours: number): readonly Figure[] {
  const { byCaller, refused } = hour.spending
  const callers = [...byCaller]
  const countedOf = (prefix: string): readonly number[] =>
    callers.flatMap(([name, { counted }]) => (name.startsWith(prefix) ? [counted] : []))
  const ofApp = countedOf('app ID').reduce((sum, one) => sum + one, 0)
  const ofInstallations = countedOf('installation ID')
  const accounts = hour.installations.length
  const all = ofApp + ofInstallations.reduce((sum, one) => sum + one, 0)
  const checked = checkedSince(hour)
  const share = (count: number): number => count / hours / limitOfHour
  return [
    { label: 'Installations', value: accounts, unit: '' },
    { label: 'grants', value: hour.grants.length, unit: '' },
    { label: labels.owners, value: checked.owners, unit: '' },
    { label: labels.grants, value: checked.grants, unit: '' },
    { label: 'requests as the App that GitHub counts', value: ofApp / hours, unit: 'an hour' },
    { label: labels.ofApp, value: share(ofApp), unit: '' },
    { label: 'requests with tokens of one installation, most', value: Math.max(0, ...ofInstallations) / hours, unit: 'an hour' },
    { label: labels.ofOne, value: share(Math.max(0, ...ofInstallations)), unit: '' },
    { label: 'requests of both kinds for each Installation', value: all / hours / accounts, unit: 'an hour' },
    {
      label: 'requests with another credential or none',
      value: countedOf('nobody').reduce((sum, one) => sum + one, 0),
      unit: '',
    },
    { label: labels.refused, value: refused(), unit: '' },
    { label: labels.lost, value: notReady(hour), unit: '' },
  ]
}

function atRest(world: World, accounts: number, seconds: number): Measurement {
  return {
    name: `${accounts.toLocaleString('en-US')} installations`,
    title: `${grantsOfAccount} grants of each; ${seconds === hourSeconds ? 'an hour' : `${seconds} s`} at rest by a quick clock`,
    async run(signal) {
      await world.grow(accounts)
      return figuresOf(await oneHour(world, seconds, signal), seconds / hourSeconds)
    },
    goals: [
      figureAtMost(labels.ofApp, 0.2),
      figureAtMost(labels.ofOne, 0.2),
      figureAtLeast(labels.owners, 1),
      figureAtLeast(labels.grants, 1),
      figureAtMost(labels.refused, 0),
      figureAtMost(labels.lost, 0),
    ],
  }
}

export const installations: Bench = {
  name: 'installations',
  title: `what an hour at rest costs of GitHub’s limits for each account with an Installation and ${grantsOfAccount} grants`,
  budgetSeconds: 600,
  longBudgetSeconds: 2400,
  obstacle: async () => (findPostgres() === undefined ? `PostgreSQL was not found: ${postgresCure}` : undefined),
  async open({ note, scale, long: isLong }): Promise<OpenBench> {
    const { few, many, rate } = isLong ? long : short
    const world = await openWorld(rate, note)
    const sized = (count: number, least: number): number => Math.max(least, Math.round(count * scale))
    const seconds = sized(hourSeconds, 360)
    const sizes = [sized(few, 2), sized(many, 4)]
    return {
      comparisons: [],
      measurements: sizes.map(accounts => atRest(world, accounts, seconds)),
      close: world.close,
    }
  },
}
