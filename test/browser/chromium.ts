// A real headless browser with its own profile, without background requests to the internet and without notifications of
// network interfaces. Records the errors of pages.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { type DebianPackage, installMissing } from '../../dev/cluster/node/packages.ts'
import { standardErrorProgress } from '../../dev/cluster/progress.ts'
import { sandbox, withFixedNetwork } from './fixed-network.ts'

const browser: DebianPackage = { name: 'chromium', program: '/usr/bin/chromium', why: 'opens pages' }

export type Chromium = {
  readonly page: Page
  /** Console errors (including violations of the content security policy), failed requests and script errors, with their page. */
  readonly errors: readonly string[]
  /** Writes the whole page as `<folder>/<name>.png`. */
  readonly picture: (name: string) => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * `folder` receives the profile and the screenshots; the profile of an earlier run is deleted. Without `scripts`, pages run
 * none.
 */
export async function openChromium(folder: string, person: string, { scripts = true } = {}): Promise<Chromium> {
  await installMissing(standardErrorProgress(), [browser, sandbox])
  const profile = join(folder, `profile-${person}`)
  await rm(profile, { recursive: true, force: true })
  await mkdir(profile, { recursive: true })
  const context: BrowserContext = await chromium.launchPersistentContext(profile, {
    executablePath: await withFixedNetwork(browser.program, profile),
    headless: true,
    ignoreHTTPSErrors: true,
    javaScriptEnabled: scripts,
    viewport: { width: 1100, height: 800 },
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
  context.setDefaultTimeout(20_000)
  const page = context.pages()[0] ?? (await context.newPage())
  const errors: string[] = []
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning')
      errors.push(`${message.type()} on ${page.url()}: ${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', error => errors.push(`script on ${page.url()}: ${error.message}`))
  page.on('requestfailed', request => {
    // A page that reloads itself aborts what is still loading.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') errors.push(`${request.url()}: ${request.failure()?.errorText}`)
  })
  return {
    page,
    errors,
    async picture(name) {
      await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
    },
    async close() {
      await context.close()
      await rm(profile, { recursive: true, force: true })
    },
  }
}
