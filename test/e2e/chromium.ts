// A real headless browser with its own profile and without background requests to the internet. Records the errors of pages.
import { spawn } from 'node:child_process'
import { access, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type BrowserContext, chromium, type Page } from 'playwright-core'

const program = '/usr/bin/chromium'

async function ensureChromium(): Promise<void> {
  if (
    await access(program).then(
      () => true,
      () => false,
    )
  )
    return
  const remedy = `${program} is missing: apt-get install -y chromium`
  if (process.getuid?.() !== 0) throw new Error(`${remedy} (as root)`)
  console.error(`${remedy} (being done now)`)
  await new Promise<void>((resolve, reject) => {
    const child = spawn('/usr/bin/apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    child.on('error', reject)
    child.on('close', code =>
      code === 0 ? resolve() : reject(new Error(`${remedy}: it ended with ${code}; try apt-get update first`)),
    )
  })
}

export type Chromium = {
  readonly page: Page
  /** Console errors (including violations of the content security policy), failed requests and script errors, with their page. */
  readonly errors: readonly string[]
  /** Writes the whole page as `<folder>/<name>.png`. */
  readonly picture: (name: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** `folder` receives the profile and the screenshots; the profile of an earlier run is deleted. Without `scripts`, pages run none. */
export async function openChromium(folder: string, person: string, { scripts = true } = {}): Promise<Chromium> {
  await ensureChromium()
  const profile = join(folder, `profile-${person}`)
  await rm(profile, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const context: BrowserContext = await chromium.launchPersistentContext(profile, {
    executablePath: program,
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
