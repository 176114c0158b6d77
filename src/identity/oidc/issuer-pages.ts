// The port for the issuer's own pages, which the broker renders. Values arrive unescaped; forms must post exactly the fields named here.

/** The target of a form and its cross-site secret, to be posted as `xsrf`. */
export type PageForm = { readonly action: string; readonly xsrf: string }

/** The device that requests a sign-in: its address and user agent are what the person compares. */
export type DeviceRequest = {
  readonly clientName: string
  readonly userCode: string
  readonly address: string
  readonly agent: string
}

export type IssuerPages = {
  /** A form with one field `user_code`; `problem` says why the code before was refused. */
  readonly deviceCode: (form: PageForm, problem: string | undefined) => string
  /** Shows the device; posts `user_code` with `confirm=yes` or `abort=yes`. */
  readonly deviceConfirmation: (form: PageForm, request: DeviceRequest) => string
  readonly deviceDone: () => string
  /** Posts `logout=yes`. */
  readonly endSession: (form: PageForm) => string
  readonly sessionEnded: () => string
  readonly problem: (message: string) => string
}
