// The port for the issuer's own pages, which the broker renders. Values arrive unescaped; forms must post exactly the fields
// named here.

/** The target of a form and its CSRF secret, which the form posts as `xsrf`. */
export type PageForm = { readonly action: string; readonly xsrf: string }

/** The device that requests a sign-in. Address and user agent come from its request: shown to the person, never trusted. */
export type DeviceRequest = {
  readonly clientName: string
  readonly userCode: string
  readonly address: string
  readonly agent: string
}

/** Every function returns a whole HTML page. */
export type IssuerPages = {
  /** A form with one field `user_code`; `problem` says why the code before was refused. */
  readonly deviceCode: (form: PageForm, problem: string | undefined) => string
  /** Shows the device; posts `user_code` with `confirm=yes` or `abort=yes`. */
  readonly deviceConfirmation: (form: PageForm, request: DeviceRequest) => string
  /** The device flow ended well. */
  readonly deviceDone: () => string
  /** Posts `logout=yes`. */
  readonly endSession: (form: PageForm) => string
  /** After `endSession`. */
  readonly sessionEnded: () => string
  /** An error that a person may see, with the cure. */
  readonly problem: (message: string) => string
}
