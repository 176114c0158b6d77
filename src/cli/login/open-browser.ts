// Opens a URL in the person's browser.
import { spawn } from 'node:child_process'

/** Does not wait for the browser, nor fail without one: the person has the URL. */
export function openBrowser(url: string, platform: string = process.platform): void {
  const [command, ...args] =
    platform === 'darwin'
      ? ['open', url]
      : platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', url]
        : ['xdg-open', url]
  const child = spawn(command ?? 'xdg-open', args, { stdio: 'ignore', detached: true })
  child.once('error', () => child.unref())
  child.unref()
}
