// What users do on the emulator's pages, click by click. For tests.
import type { RunningEmulator } from '../emulator.ts'
import { type Browser, type BrowserPage, createBrowser } from './browser.ts'

type Emulator = Pick<RunningEmulator, 'url' | 'app'>

/** A browser in which this user is signed in. */
export async function signIn(emulator: Emulator, login: string): Promise<Browser> {
  const browser = createBrowser()
  await (await browser.open(`${emulator.url}/login`)).form(`Sign in as ${login}`).submit()
  return browser
}

/** Installs the App on an account (or requests it); resolves to the URL to which the browser was redirected. */
export async function install(
  emulator: Emulator,
  browser: Browser,
  accountId: number,
  choice: { readonly repositoryIds: readonly number[] | 'all'; readonly state?: string; readonly button?: 'Install' | 'Request' },
): Promise<BrowserPage> {
  const state = choice.state === undefined ? '' : `&state=${encodeURIComponent(choice.state)}`
  const page = await browser.open(
    `${emulator.url}/github-apps/${emulator.app.slug}/installations/new/permissions?target_id=${accountId}${state}`,
  )
  const fields =
    choice.repositoryIds === 'all'
      ? { repository_selection: 'all' }
      : { repository_selection: 'selected', repository_ids: choice.repositoryIds.map(String) }
  return page.form(choice.button ?? 'Install').submit(fields)
}
