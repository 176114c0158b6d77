// The pages that the issuer shows by itself, as a port that the broker implements. Values are not escaped yet; forms must post exactly the fields
// named here.

/** The target of a form and its CSRF secret, which the form posts as `xsrf`. */
export type PageForm = { readonly action: string; readonly xsrf: string }

/** Who asks for tokens by the device flow. Address and agent are what the device's request said: shown to the person, never trusted. */
export type DeviceRequest = {
  readonly clientName: string
  readonly userCode: string
  readonly address: string
  readonly agent: string
}

export type IssuerPages = {
  /** Requests the code: one field `user_code`. `problem` says why the last one was not accepted. */
  readonly deviceCode: (form: PageForm, problem: string | undefined) => string
  /** Shows which program asks and from where; posts `user_code` with `confirm=yes` or `abort=yes`. */
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
