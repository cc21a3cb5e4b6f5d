(* Lwt's primitives by number, for lwt.c: what a run leaves stays in these tables, outside of its memory. *)
external ended : nativeint -> int -> int -> unit = "wild_ended"

let next = ref 0
let number table made = incr next; Hashtbl.replace table !next made; !next
let promises : (int, unit Lwt.t) Hashtbl.t = Hashtbl.create 16
let mutexes : (int, Lwt_mutex.t) Hashtbl.t = Hashtbl.create 16
let conditions : (int, unit Lwt_condition.t) Hashtbl.t = Hashtbl.create 16
let mvars : (int, int Lwt_mvar.t) Hashtbl.t = Hashtbl.create 16

(* Reports the end of the promise, at once if it has one. 0, or its number. *)
let watch request promise =
  let got = ref 0 in
  let unit = Lwt.map (fun value -> got := value) promise in
  let id = if Lwt.is_sleeping unit then number promises unit else 0 in
  let over status = Hashtbl.remove promises id; ended request status !got in
  Lwt.on_any unit (fun () -> over 0) (function Lwt.Canceled -> over 1 | _ -> over 2);
  id

let zero = Lwt.map (fun () -> 0)
let mutex id = Hashtbl.find mutexes id
let condition id = Hashtbl.find conditions id
let mvar id = Hashtbl.find mvars id

let () =
  Callback.register "cancel" (fun id -> Option.iter Lwt.cancel (Hashtbl.find_opt promises id));
  Callback.register "mutex" (fun () -> number mutexes (Lwt_mutex.create ()));
  Callback.register "lock" (fun id request -> watch request (zero (Lwt_mutex.lock (mutex id))));
  Callback.register "unlock" (fun id -> Lwt_mutex.unlock (mutex id));
  Callback.register "locked" (fun id -> Lwt_mutex.is_locked (mutex id));
  Callback.register "condition" (fun () -> number conditions (Lwt_condition.create ()));
  Callback.register "wait" (fun id lock request ->
    watch request (zero (Lwt_condition.wait ~mutex:(mutex lock) (condition id))));
  Callback.register "signal" (fun id -> Lwt_condition.signal (condition id) ());
  Callback.register "broadcast" (fun id -> Lwt_condition.broadcast (condition id) ());
  Callback.register "mvar" (fun () -> number mvars (Lwt_mvar.create_empty ()));
  Callback.register "put" (fun id item request -> watch request (zero (Lwt_mvar.put (mvar id) item)));
  Callback.register "take" (fun id request -> watch request (Lwt_mvar.take (mvar id)));
  Callback.register "take_now" (fun id -> Option.value ~default:(-1) (Lwt_mvar.take_available (mvar id)));
  Callback.register "is_empty" (fun id -> Lwt_mvar.is_empty (mvar id))
