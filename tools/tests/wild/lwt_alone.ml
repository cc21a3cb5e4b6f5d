(* What a cancel does to Lwt_condition.wait once it was signalled, without Buzzer. *)
let () =
  let mutex = Lwt_mutex.create () and condition = Lwt_condition.create () in
  ignore (Lwt_mutex.lock mutex);
  let waits = Lwt_condition.wait ~mutex condition in
  ignore (Lwt_mutex.lock mutex); (* free: another thread has it now, and signals *)
  Lwt_condition.signal condition ();
  Lwt.cancel waits;
  let has_left = Lwt.state waits = Lwt.Fail Lwt.Canceled in
  print_endline (if has_left then "the wait is left without the mutex" else "all is well")
