// What GitHub answered and how much of its rate limits is left. Organisations decide how many installations there are, so only
// the ones with the least left are series: their number is bounded, whoever installs the App.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { BoundedMap } from '../lib/bounded-map.ts'
import type { Clock } from '../lib/clock.ts'
import { type GitHubObserver, type GitHubOperation, githubOperations, type RateLimit } from './transport/observed-fetch.ts'

export type GitHubMeter = {
  /** For requests whose credential has a rate limit of its own that nobody else uses. */
  readonly requests: GitHubObserver
  /** For requests as the App itself. */
  readonly ofApp: (host: string, appId: number) => GitHubObserver
  /** For requests with tokens of the installation. */
  readonly ofInstallation: (host: string, installationId: number) => GitHubObserver
  /**
   * What is left to the installation and its App of their limits, by the last answers: from 0 to 1, the smaller of the two; 1
   * where nothing is known of this hour.
   */
  readonly leftOf: (of: { readonly host: string; readonly appId: number; readonly installationId: number }) => number
}

type Budget = RateLimit & { readonly host: string; readonly id: number }

/** Beyond them the one that was observed longest ago is forgotten. */
const rememberedInstallations = 10_000
const rememberedApps = 100
/** So many installations are series at a time: those that have the smallest share of their limit left. */
export const reportedInstallations = 20

const buckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 15]

/**
 * How many requests GitHub answered, by operation and status, and how long each took. Register it once per registry and prefix;
 * the time has the label `operation` where `operations` names them.
 */
export function createAnswerMetrics(
  registry: Registry,
  names: {
    readonly prefix: string
    readonly requests: string
    readonly duration: string
    readonly operations?: readonly GitHubOperation[]
  },
): GitHubObserver {
  const registers = [registry]
  const requests = new Counter({
    name: `${names.prefix}_requests_total`,
    help: names.requests,
    labelNames: ['operation', 'code'],
    registers,
  })
  const labelNames: 'operation'[] = names.operations === undefined ? [] : ['operation']
  const duration = new Histogram({
    name: `${names.prefix}_request_duration_seconds`,
    help: names.duration,
    labelNames,
    buckets,
    registers,
  })
  for (const operation of names.operations ?? []) duration.zero({ operation })
  return ({ operation, status, seconds }) => {
    requests.inc({ operation, code: String(status) })
    if (names.operations === undefined) duration.observe(seconds)
    else duration.observe({ operation }, seconds)
  }
}

// Memory (rate limits of GitHub): App, and each installation → what GitHub's last answer said is left
//   life: until its hour ends
//   bound: 100 Apps, 10,000 installations, the one observed longest ago forgotten first
//   freshness: the next answer; a limit whose hour has ended is full again and is not reported
//   replicas: each reports what it was answered
/** Register it once per registry. */
export function createGitHubMeter(registry: Registry, clock: Clock): GitHubMeter {
  const count = createAnswerMetrics(registry, {
    prefix: 'sekisho_github',
    requests: 'Requests to GitHub by the controllers: mint (a token), revoke (a token), read or write; code 0: no answer.',
    duration: 'Time until GitHub answered a request of the controllers.',
    operations: githubOperations,
  })
  const apps = new BoundedMap<Budget>(rememberedApps)
  const installations = new BoundedMap<Budget>(rememberedInstallations)
  budgetGauges(registry, 'app', () => current(apps, clock))
  budgetGauges(registry, 'installation', () => current(installations, clock).toSorted(byShare).slice(0, reportedInstallations))

  const keeping =
    (budgets: BoundedMap<Budget>) =>
    (host: string, id: number): GitHubObserver =>
    answer => {
      count(answer)
      // A revocation is answered for the token that it revokes.
      if (answer.rateLimit !== undefined && answer.operation !== 'revoke')
        budgets.set(`${host}/${id}`, { ...answer.rateLimit, host, id })
    }
  const leftOf: GitHubMeter['leftOf'] = ({ host, appId, installationId }) => {
    const budgets = [apps.get(`${host}/${appId}`), installations.get(`${host}/${installationId}`)]
    const now = clock.now()
    return Math.min(1, ...budgets.map(budget => (budget === undefined || budget.resetAt <= now ? 1 : shareOf(budget))))
  }
  return { requests: count, ofApp: keeping(apps), ofInstallation: keeping(installations), leftOf }
}

function byShare(a: Budget, b: Budget): number {
  return shareOf(a) - shareOf(b)
}

function shareOf({ remaining, limit }: Budget): number {
  return remaining / Math.max(1, limit)
}

function current(budgets: BoundedMap<Budget>, clock: Clock): readonly Budget[] {
  const now = clock.now().getTime()
  return [...budgets.values()].filter(({ resetAt }) => resetAt.getTime() > now)
}

/** Three gauges, read at each scrape. */
function budgetGauges(registry: Registry, owner: 'app' | 'installation', read: () => readonly Budget[]): void {
  const whose =
    owner === 'app' ? 'of the App itself' : `of an installation, for the ${reportedInstallations} that have the least left`
  const gauge = (name: string, help: string, value: (budget: Budget) => number): void => {
    new Gauge({
      name: `sekisho_github_${owner}_rate_limit_${name}`,
      help: `${help} ${whose}, as GitHub’s last answer to this process said.`,
      labelNames: ['host', owner],
      registers: [registry],
      collect() {
        this.reset()
        for (const budget of read()) this.set({ host: budget.host, [owner]: String(budget.id) }, value(budget))
      },
    })
  }
  gauge('requests', 'Requests an hour that GitHub allows,', ({ limit }) => limit)
  gauge('remaining_requests', 'Requests that are left of this hour,', ({ remaining }) => remaining)
  gauge('reset_timestamp_seconds', 'When the hour ends, in seconds since 1970,', ({ resetAt }) => resetAt.getTime() / 1000)
}
