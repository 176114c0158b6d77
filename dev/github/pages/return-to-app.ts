// Owns: where the browser goes when an installation page is done. Pure.
// With "Request user authorization during installation" it is the first callback URL, else the setup URL, else the App's own page.
import type { Context } from '../rest/context.ts'
import type { App } from '../state/apps.ts'

export type ReturnParameters = Readonly<Record<string, string | undefined>>

/** The address with every parameter that has a value. */
export const afterInstall = (context: Pick<Context, 'links'>, app: App, parameters: ReturnParameters): string => {
  const [callback] = app.callbackUrls
  const target = app.requestOAuthOnInstall ? callback : (app.setupUrl ?? undefined)
  if (target === undefined) return new URL(context.links.appPage(app.slug)).pathname
  const url = new URL(target)
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value)
  return url.toString()
}
