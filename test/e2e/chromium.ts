// A real browser, headless, with a profile of its own and nothing that asks the internet for anything. Records what pages complain about.
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
  const cure = `${program} is missing: apt-get install -y chromium`
  if (process.getuid?.() !== 0) throw new Error(`${cure} (as root)`)
  console.error(`${cure} (being done now)`)
  await new Promise<void>((resolve, reject) => {
    const child = spawn('/usr/bin/apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    child.on('error', reject)
    child.on('close', code =>
      code === 0 ? resolve() : reject(new Error(`${cure}: it ended with ${code}; try apt-get update first`)),
    )
  })
}

export type Chromium = {
  readonly page: Page
  /** Errors of the console (a violated content security policy is one), failed requests and errors of scripts, with their page. */
  readonly complaints: readonly string[]
  /** The whole page as `<folder>/<name>.png`. */
  readonly picture: (name: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** `folder` is for the profile and the pictures; the profile of an earlier run is forgotten. */
export async function openChromium(folder: string, person: string): Promise<Chromium> {
  await ensureChromium()
  const profile = join(folder, `profile-${person}`)
  await rm(profile, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const context: BrowserContext = await chromium.launchPersistentContext(profile, {
    executablePath: program,
    headless: true,
    ignoreHTTPSErrors: true,
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
  const complaints: string[] = []
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning')
      complaints.push(`${message.type()} on ${page.url()}: ${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', error => complaints.push(`script on ${page.url()}: ${error.message}`))
  page.on('requestfailed', request => {
    // A page that asks again by itself ends what is still loading.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') complaints.push(`${request.url()}: ${request.failure()?.errorText}`)
  })
  return {
    page,
    complaints,
    async picture(name) {
      await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
    },
    async close() {
      await context.close()
      await rm(profile, { recursive: true, force: true })
    },
  }
}
