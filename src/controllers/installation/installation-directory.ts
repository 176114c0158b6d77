// What GitHub says about the installations of an App, for all Installations together: lists of a hundred each, requested
// conditionally and at most so often that lists are a small share of the App's hourly limit, and single requests where one must
// be known now. Of two answers about one installation the younger counts. In memory; a new leader lists once.
// Source: https://docs.github.com/en/rest/apps/apps#list-installations-for-the-authenticated-app
import type { InstallationFacts, InstallationPage } from '../../github/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, isAppError } from '../../lib/errors.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import type { GitHubApp } from '../../services/token-desk/app-clients.ts'

export type InstallationDirectory = {
  /** Asks GitHub about this one now; undefined when GitHub does not have it. Rejects as the client does. */
  readonly ask: (app: GitHubApp, id: number) => Promise<InstallationFacts | undefined>
  /**
   * From the list, which is as old as `listMilliseconds` at most, or an hour while GitHub fails. undefined when it was not
   * listed: pages shift while they are read, so that only `ask` proves that an installation is gone. Rejects as the client
   * does.
   */
  readonly look: (app: GitHubApp, id: number) => Promise<InstallationFacts | undefined>
  /** As `look`, by the account: the installation of the App on it. */
  readonly onAccount: (app: GitHubApp, account: AccountIdentity) => Promise<InstallationFacts | undefined>
}

type AccountIdentity = { readonly id: number; readonly type: InstallationFacts['account']['type'] }

/** Without facts: GitHub said that it does not have it. */
type Entry = { readonly facts: InstallationFacts | undefined; readonly askedAt: number }

type AppState = {
  client: GitHubApp['client']
  pages: InstallationPage[]
  entries: Map<number, Entry>
  /** When the last complete list was begun. */
  listedAt: number | undefined
  /** The failure of the last list, and until when it is not repeated. */
  failure: { readonly error: unknown; readonly until: number; readonly wait: number } | undefined
}

/** Lists may use this many requests an hour of the 5,000 that an App has, whatever the number of installations. */
const listRequestsPerHour = 400
const shortestListMilliseconds = 60_000
const hour = 3_600_000
/** GitHub lists a hundred per page. */
const maxPages = 1000

/** How old the list may become: with each page it is listed less often. 10,000 installations are listed every 15 minutes. */
export function listMilliseconds(pages: number): number {
  return Math.max(shortestListMilliseconds, (pages * hour) / listRequestsPerHour)
}

// Memory (installation directory): App and installation → GitHub’s description; equal lists share one request
//   life: a list lives one minute, longer from 7 pages on (15 minutes at 10,000 installations), an hour while GitHub fails
//   bound: what GitHub lists, 100,000 at most
//   freshness: the next list; a direct answer, which a webhook causes
//   replicas: leader only; the next lists once
/** Knows nothing at first. */
export function createInstallationDirectory({ clock }: { readonly clock: Clock }): InstallationDirectory {
  const states = new Map<string, AppState>()
  const flights = new SingleFlight<void>()
  const now = (): number => clock.now().getTime()

  const keyOf = ({ endpoints, appId }: GitHubApp): string => `${endpoints.host}/${appId}`
  const stateOf = (app: GitHubApp): AppState => {
    const known = states.get(keyOf(app))
    if (known?.client === app.client) return known
    // Another key may not be accepted: what the earlier client knew is listed again.
    const state: AppState = { client: app.client, pages: [], entries: new Map(), listedAt: undefined, failure: undefined }
    states.set(keyOf(app), state)
    return state
  }

  const readPages = async (state: AppState): Promise<readonly InstallationFacts[]> => {
    for (let at = 0; at < maxPages; at++) {
      const page = await state.client.installationPage(at + 1, state.pages[at])
      state.pages[at] = page
      if (page.hasNext) continue
      state.pages.length = at + 1
      return state.pages.flatMap(({ installations }) => installations)
    }
    throw new AppError('upstream_failed', `GitHub lists more than ${maxPages} pages of installations`)
  }

  const list = async (state: AppState): Promise<void> => {
    const begun = now()
    const listed = new Map((await readPages(state)).map(facts => [facts.id, facts]))
    for (const [id, { askedAt }] of state.entries) if (!listed.has(id) && askedAt <= begun) state.entries.delete(id)
    for (const [id, facts] of listed)
      if ((state.entries.get(id)?.askedAt ?? 0) <= begun) state.entries.set(id, { facts, askedAt: begun })
    state.listedAt = begun
    state.failure = undefined
  }

  const refresh = async (key: string, state: AppState): Promise<void> => {
    const fresh = state.listedAt !== undefined && now() - state.listedAt < listMilliseconds(state.pages.length)
    if (fresh) return
    if (state.failure !== undefined && now() < state.failure.until) throw state.failure.error
    await flights.run(key, async () => {
      try {
        await list(state)
      } catch (error) {
        const asked = isAppError(error) ? (error.retryAfterSeconds ?? 0) * 1000 : 0
        const wait = Math.min(hour, Math.max(shortestListMilliseconds, (state.failure?.wait ?? 0) * 2))
        state.failure = { error, wait, until: now() + Math.max(wait, asked) }
        throw error
      }
    })
  }

  return {
    async ask(app, id) {
      const state = stateOf(app)
      const askedAt = now()
      const facts = await app.client.installation(id)
      if ((state.entries.get(id)?.askedAt ?? 0) <= askedAt) state.entries.set(id, { facts, askedAt })
      return facts
    },
    async look(app, id) {
      const state = stateOf(app)
      try {
        await refresh(keyOf(app), state)
      } catch (error) {
        const known = state.entries.get(id)
        const isRefused = isAppError(error) && error.code !== 'unavailable' && error.code !== 'too_many_requests'
        if (known === undefined || isRefused || now() - known.askedAt >= hour) throw error
        return known.facts
      }
      return state.entries.get(id)?.facts
    },
    async onAccount(app, { id, type }) {
      const state = stateOf(app)
      await refresh(keyOf(app), state)
      return [...state.entries.values()].find(({ facts }) => facts?.account.id === id && facts.account.type === type)?.facts
    },
  }
}
